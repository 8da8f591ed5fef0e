"""Small filters of templates."""

from django.template import Context, Template

from runs.templatetags.lists import pairs


def test_a_name_may_be_the_word_of_a_method() -> None:
    template = Template(
        "{% load lists %}{% for a, b in shares|pairs %}{{ a }}={{ b }} {% endfor %}"
    )
    shown = template.render(Context({"shares": {"items": 0.5, "keys": 0.5}}))
    assert shown == "items=0.5 keys=0.5 "


def test_what_is_no_mapping_has_none() -> None:
    assert [pairs(None), pairs("items"), pairs([1])] == [[], [], []]
