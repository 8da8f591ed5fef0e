"""Refusals are told in the language of the reader, and kept as plain text from then on."""

import pytest
from django.utils import translation

from controlplane.common import access
from controlplane.common.errors import Forbidden, Invalid
from controlplane.common.models import Role
from controlplane.common.services import tokens
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db


def test_a_refusal_is_told_in_chinese():
    project = make_project()
    user = make_user(Role.VIEWER, project)
    with translation.override("zh-hans"), pytest.raises(Forbidden) as refused:
        access.require(user, project.pk, "config.approve")
    assert refused.value.message == "此操作需要“审批人”角色；你的角色是“查看者”。"
    assert refused.value.hint == "请向项目管理员申请该角色。"


def test_the_words_of_an_act_stand_in_a_chinese_sentence():
    with translation.override("zh-hans"), pytest.raises(Forbidden) as refused:
        access.require_service(make_user(), "person.create")
    assert refused.value.message == "只有服务管理员可以创建账号。"


def test_a_fault_of_a_field_is_told_in_chinese():
    with translation.override("zh-hans"), pytest.raises(Invalid) as refused:
        tokens.create_token(user=make_user(), name="", scopes=[])
    assert refused.value.fields == {"name": ["名称长度为 1 至 80 个字符；当前为 0 个。"]}


def test_what_was_said_stays_what_it_was_in_another_language():
    with translation.override("zh-hans"), pytest.raises(Invalid) as refused:
        tokens.create_token(user=make_user(), name="", scopes=[])
    with translation.override("en"):
        assert type(refused.value.message) is str
        assert refused.value.message == "无法创建令牌：请检查 name。"
