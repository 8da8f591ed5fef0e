import pytest

from controlplane.common import encryption


def test_what_is_stored_says_nothing_and_is_read_again(settings):
    settings.SAFEHOLD_ENCRYPTION_KEY = ""
    stored = encryption.encrypt("kubeconfig: secret")
    assert "secret" not in stored
    assert encryption.encrypt("kubeconfig: secret") != stored
    assert encryption.decrypt(stored) == "kubeconfig: secret"


def test_another_key_cannot_read_it_and_the_message_says_what_to_do(settings):
    settings.SAFEHOLD_ENCRYPTION_KEY = "one"
    stored = encryption.encrypt("x")
    settings.SAFEHOLD_ENCRYPTION_KEY = "two"
    with pytest.raises(encryption.CannotDecrypt) as caught:
        encryption.decrypt(stored)
    assert "former key" in caught.value.hint


def test_a_key_is_replaced_by_putting_the_new_one_first(settings):
    settings.SAFEHOLD_ENCRYPTION_KEY = "old"
    stored = encryption.encrypt("x")
    settings.SAFEHOLD_ENCRYPTION_KEY = "new, old"
    assert encryption.decrypt(stored) == "x"
    settings.SAFEHOLD_ENCRYPTION_KEY = "new"
    with pytest.raises(encryption.CannotDecrypt):
        encryption.decrypt(stored)


def test_a_changed_form_is_refused(settings):
    settings.SAFEHOLD_ENCRYPTION_KEY = "one"
    stored = encryption.encrypt("x")
    with pytest.raises(encryption.CannotDecrypt):
        encryption.decrypt(stored[:-4] + "AAAA")
