"""Packed tokens come back as they were, cut into sequences that overlap by one token."""

import numpy as np
import pytest

from safehold.data.packed import Packed, PackedError, write_shard


def write(folder, name="a", documents=((1, 2, 3), (4, 5)), vocabulary=10, domain="code"):
    lists = [list(document) for document in documents]
    return write_shard(folder, name, lists, domain=domain, end_of_text=0, vocabulary=vocabulary)


def test_documents_are_joined_by_the_end_of_text(tmp_path):
    shard = write(tmp_path)
    assert (shard.num_tokens, shard.num_documents) == (7, 2)
    packed = Packed(tmp_path, length=2)
    assert len(packed) == 3
    assert packed.sequences(np.arange(3)).tolist() == [[1, 2, 3], [3, 0, 4], [4, 5, 0]]


def test_shards_are_numbered_through_and_keep_their_domain(tmp_path):
    write(tmp_path, "a", domain="code")
    write(tmp_path, "b", domain="web", documents=[(7, 8, 9, 7, 8)])
    packed = Packed(tmp_path, length=2)
    assert [packed.domain_of(number) for number in range(len(packed))] == ["code"] * 3 + ["web"] * 2
    assert packed.sequences(np.array([3])).tolist() == [[7, 8, 9]]
    with pytest.raises(IndexError):
        packed.domain_of(5)


def test_large_vocabulary_takes_wider_tokens(tmp_path):
    write(tmp_path, documents=[(70_000, 1)], vocabulary=80_000)
    assert Packed(tmp_path, length=2).sequences(np.array([0])).tolist() == [[70_000, 1, 0]]


def test_token_outside_the_vocabulary_is_refused(tmp_path):
    with pytest.raises(PackedError, match="outside a vocabulary of 10"):
        write(tmp_path, documents=[(10,)])


def test_cut_shard_is_refused(tmp_path):
    write(tmp_path)
    (tmp_path / "a.tokens").write_bytes(b"\x01\x00")
    with pytest.raises(PackedError, match="has 2 bytes, its 7 tokens need 14"):
        Packed(tmp_path, length=2)


def test_folder_without_shards_is_refused(tmp_path):
    with pytest.raises(PackedError, match="holds no packed shards"):
        Packed(tmp_path, length=2)


def test_a_shard_without_documents_adds_nothing(tmp_path):
    write(tmp_path, "a", domain="code")
    write(tmp_path, "b", documents=[])
    write(tmp_path, "c", domain="web")
    packed = Packed(tmp_path, length=2)
    assert len(packed) == 6
    assert [packed.domain_of(number) for number in range(6)] == ["code"] * 3 + ["web"] * 3
    assert packed.sequences(np.array([3])).tolist() == [[1, 2, 3]]
