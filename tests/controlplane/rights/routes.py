"""Every route of pages and API with the act that it is: what the tests hold the service to.

`{name}` in a path or body is a fact of the world that `tests.controlplane.rights.world` makes. A new route belongs here.
"""

from dataclasses import dataclass, field
from typing import Any

READ = "project.read"


@dataclass(frozen=True)
class Route:
    """One method of one route.

    Attributes:
        name: That of the page, or `GET /path` of the API as OpenAPI has it.
        path: With facts of the world.
        act: Of `controlplane.common.rights`.
        method: HTTP.
        body: What is sent.
        is_list: Lists or forms of one's own projects: an outsider sees them, without ours in them.
        writes: Whether it changes something where it is allowed.
        at: Other facts for the names in the path: `{"config_id": "production"}`.
    """

    name: str
    path: str
    act: str = READ
    method: str = "GET"
    body: dict[str, Any] = field(default_factory=dict)
    is_list: bool = False
    writes: bool = False
    at: dict[str, str] = field(default_factory=dict)

    @property
    def is_api(self) -> bool:
        return self.path.startswith("/api/")

    def __str__(self) -> str:
        return f"{self.method} {self.path}" + (f" {self.body['act']}" if "act" in self.body else "")


# Acts that the world of these tests is in no state for: each has a test of its own.
NOT_DONE_HERE = frozenset(
    {"project.archive", "project.restore", "rulebook.reset", "run.change_reason"}
)


def _page(name: str, path: str, act: str = READ, **more: Any) -> Route:
    return Route(name, path, act, **more)


def _form(name: str, path: str, act: str, body: dict[str, Any] | None = None, **more: Any) -> Route:
    return Route(name, path, act, "POST", body or {}, **{"writes": True} | more)


def _api(
    operation: str,
    act: str = READ,
    body: dict[str, Any] | None = None,
    *,
    query: str = "",
    **more: Any,
) -> Route:
    method, path = operation.split(" ")
    writes = more.pop("writes", method != "GET")
    return Route(operation, f"/api/v1{path}{query}", act, method, body or {}, writes=writes, **more)


_RUN_TABS = ("detail", "header", "timeline", "attempts", "logs", "checkpoints", "proof")
_RUN_FACTS = {
    "run_log_tail": "logs/tail/",
    "run_log_download": "logs/download/",
    "run_metrics": "metrics.json",
    "run_flags": "flags.json",
}
_ACTS = [
    ("launch", "run.launch", "draft"), ("resume", "run.resume", "ended"), ("save", "attempt.save", "run"),
    ("pause", "run.pause", "run"), ("stop", "run.stop", "run"), ("force-stop", "run.force_stop", "run"),
]  # fmt: skip
_CONFIG_ACTS = [
    ("freeze", "config.freeze", "config"), ("request-approval", "config.request_approval", "unasked"),
    ("approve", "config.approve", "production"), ("reject", "config.reject", "production"),
    ("withdraw", "config.withdraw_approval", "production"),
]  # fmt: skip
_SHELF = [
    ("label", "run.label", "{ended}"), ("archive", "run.archive", "{ended}"), ("unarchive", "run.unarchive", "{archived}"),
    ("delete", "run.delete", "{archived}"), ("keep", "run.keep", "{doomed}"),
]  # fmt: skip

PAGES: list[Route] = [
    _form("runs:switch_project", "/projects/switch/", READ, {"project": "{project}"}, writes=False),
    _page("runs:run_list", "/runs/", is_list=True),
    _page("runs:run_rows", "/runs/rows/?run={run}", is_list=True),
    _page("runs:run_new", "/runs/new/", "run.create", is_list=True),
    _form("runs:run_new", "/runs/new/", "run.create", {"config": "{config}", "name": "n"}, is_list=True),
    _page("runs:compare", "/runs/compare/?run={run}&run={draft}", is_list=True),
    _page("runs:compare_summary", "/runs/compare/summary/?run={run}", is_list=True),
    _page("runs:compare_charts", "/runs/compare/metrics.json?run={run}", is_list=True),
    *[_form("runs:chosen", f"/runs/chosen/{verb}/", act, {"run": chosen, "tags": "a"}) for verb, act, chosen in _SHELF],
    _form("runs:view_save", "/runs/views/save/", "view.save", {"name": "v"}, is_list=True),
    _form("runs:view_remove", "/runs/views/{view}/remove/", "view.remove"),
    _page("runs:run_labels", "/runs/{run}/labels/"),
    _form("runs:run_labels", "/runs/{run}/labels/", "run.label", {"name": "n"}),
    *[_page(f"runs:run_{tab}", "/runs/{run}/" + ("" if tab == "detail" else f"{tab}/")) for tab in _RUN_TABS],
    *[_page(f"runs:{name}", "/runs/{run}/" + path) for name, path in _RUN_FACTS.items()],
    _page("runs:run_export", "/runs/{run}/metrics/export/"),
    *[_form("runs:run_act", f"/runs/{{{run}}}/{verb}/act/", act) for verb, act, run in _ACTS],
    _page("runs:card_list", "/cards/", is_list=True),
    _page("runs:card_new", "/cards/new/", "card.create", is_list=True),
    _form("runs:card_new", "/cards/new/", "card.create", {"name": "n", "stage": "sft"}, is_list=True),
    _form("runs:card_estimate", "/cards/estimate/", READ, is_list=True, writes=False),
    _page("runs:card_detail", "/cards/{card}/"),
    _form("runs:card_detail", "/cards/{card}/", "card.update", {"name": "n", "stage": "sft"}),
    _page("runs:card_markdown", "/cards/{card}/export.md"),
    _page("runs:card_json", "/cards/{card}/export.json"),
    _form("runs:card_pilot", "/cards/{card}/pilot/", "card.create", {"kind": "pilot"}),
    _form("runs:card_mixes", "/cards/{card}/mixes/", "config.create", {"mixes": "a: web = 1"}),
    _page("runs:config_list", "/configs/", is_list=True),
    _page("runs:config_new", "/configs/new/", "config.create", is_list=True),
    _form("runs:config_new", "/configs/new/", "config.create", {"side": "toml", "toml": "{toml}"}, is_list=True),
    _form("runs:config_check", "/configs/check/", READ, {"toml": "{toml}"}, is_list=True, writes=False),
    _page("runs:config_detail", "/configs/{config}/"),
    _page("runs:config_diff", "/configs/{config}/diff/?other={config}"),
    _page("runs:config_download", "/configs/{config}/download/"),
    _form("runs:preflight_new", "/configs/{config}/preflight/", "preflight.request"),
    _page("runs:config_manifests", "/configs/{config}/manifests/"),
    _page("runs:cluster_list", "/cluster/", is_list=True),
    _page("runs:cluster_rows", "/cluster/rows/", is_list=True),
    _page("runs:cluster_register", "/cluster/register/", "cluster.register"),
    _form("runs:cluster_register", "/cluster/register/", "cluster.register", {"name": "c", "way": "in_cluster", "image": "i"}),
    _form("runs:cluster_test", "/cluster/{cluster}/test/", "cluster.test", writes=False),
    _form("runs:cluster_remove", "/cluster/{cluster}/remove/", "cluster.remove"),
    _page("runs:preflight_list", "/preflight/", is_list=True),
    _page("runs:preflight_report", "/preflight/{report}/"),
    _page("runs:preflight_body", "/preflight/{report}/body/"),
    *[_form("runs:config_act", f"/configs/{{{config}}}/{verb}/act/", act, {"reason": "r"}) for verb, act, config in _CONFIG_ACTS],
    _page("runs:rulebook", "/settings/rulebook/", is_list=True),
    _form("runs:rulebook_change", "/settings/rulebook/{rule_id}/", "rulebook.set", {"low": 0.1, "high": 0.5, "reason": "r"}, is_list=True),
    _form("runs:rulebook_change", "/settings/rulebook/{rule_id}/", "rulebook.reset", {"reset": "1"}, is_list=True),
    _form("runs:run_reason", "/runs/{run}/reason/", "run.change_reason", {"reason": "r"}),
    _page("search", "/search/?q=config", is_list=True),
    _page("checkpoints:index", "/checkpoints/", is_list=True),
    _page("checkpoints:choices", "/checkpoints/choices/", is_list=True),
    _page("checkpoints:chosen", "/checkpoints/choices/chosen/?base_checkpoint={checkpoint}", is_list=True),
    _page("checkpoints:of_run", "/checkpoints/of-run/{run}/"),
    _page("checkpoints:detail", "/checkpoints/{checkpoint}/"),
    _page("checkpoints:proof", "/checkpoints/{checkpoint}/proof/"),
    _page("checkpoints:manifest", "/checkpoints/{checkpoint}/manifest.json"),
    _page("checkpoints:tensors", "/checkpoints/{checkpoint}/tensors/model/"),
    _form("checkpoints:verify", "/checkpoints/{checkpoint}/verify/", "checkpoint.verify"),
    _form("checkpoints:pin", "/checkpoints/{checkpoint}/pin/", "checkpoint.pin", {"pinned": "yes"}),
    _form("checkpoints:pin", "/checkpoints/{pinned}/pin/", "checkpoint.unpin", {"pinned": "no"}),
    _page("checkpoints:fork", "/checkpoints/{checkpoint}/fork/", "run.create"),
    _form("checkpoints:fork", "/checkpoints/{checkpoint}/fork/", "run.create", {"config": "{config}", "name": "f"}),
    _form("checkpoints:resume", "/checkpoints/{checkpoint}/resume/", "run.resume"),
    _page("settings:index", "/settings/", "token.read", is_list=True),
    _page("settings:project", "/settings/project/", is_list=True),
    _form("settings:project", "/settings/project/", "project.rename", {"name": "Other"}, is_list=True),
    _form("settings:project_archive", "/settings/project/archive/", "project.archive", is_list=True),
    _form("settings:project_restore", "/settings/project/restore/", "project.restore", is_list=True),
    _page("settings:project_new", "/settings/projects/new/", "project.create"),
    _form("settings:project_new", "/settings/projects/new/", "project.create", {"name": "New"}),
    _page("settings:members", "/settings/members/", is_list=True),
    _form("settings:members", "/settings/members/", "member.add", {"username": "newcomer", "role": 20}, is_list=True),
    _form("settings:member_role", "/settings/members/member/role/", "member.change", {"role": 20}),
    _form("settings:member_remove", "/settings/members/member/remove/", "member.remove"),
    _page("settings:tokens", "/settings/tokens/", "token.read", is_list=True),
    _form("settings:tokens", "/settings/tokens/", "token.create", {"name": "t", "days": 7}, is_list=True),
    _form("settings:token_revoke", "/settings/tokens/{own_token}/revoke/", "token.revoke", is_list=True),
    _page("settings:audit", "/settings/audit/", "audit.read", is_list=True),
    _page("settings:audit_export", "/settings/audit/export/", "audit.read", is_list=True),
    _form("settings:audit_verify", "/settings/audit/verify/", "audit.verify", is_list=True, writes=False),
    _page("settings:people", "/settings/people/", "person.read"),
    _form("settings:people", "/settings/people/", "person.create", {"username": "fresh"}),
    _form("settings:person_active", "/settings/people/{person}/active/", "person.deactivate", {"active": "no"}),
    _form("settings:person_active", "/settings/people/{closed}/active/", "person.activate", {"active": "yes"}),
    _form("settings:person_password", "/settings/people/{person}/password/", "person.reset_password"),
    _page("settings:account", "/settings/account/", "token.read", is_list=True),
    _form("settings:password", "/settings/account/password/", "person.change_password", {"old": "pass", "new": "a much longer one", "again": "a much longer one"}, is_list=True),
    _form("settings:sign_ins_end", "/settings/account/sign-ins/end/", "person.sign_out_elsewhere", is_list=True, writes=False),
]  # fmt: skip

API: list[Route] = [
    _api("GET /cards", is_list=True),
    _api("POST /cards", "card.create", {"name": "n", "project": "{slug}"}),
    _api("POST /cards/estimate", READ, {}, is_list=True, writes=False),
    _api("GET /cards/{card_id}"),
    _api("PATCH /cards/{card_id}", "card.update", {"name": "n"}),
    _api("GET /cards/{card_id}/changes"),
    _api("GET /cards/{card_id}/export"),
    _api("GET /cards/{card_id}/results"),
    _api("POST /cards/{card_id}/pilots", "card.create", {}),
    _api("POST /cards/{card_id}/mixes", "config.create", {"mixes": {"a": {"web": 1.0}}}),
    _api("GET /cards/{card_id}/mixes"),
    _api("GET /configs", is_list=True),
    _api("POST /configs", "config.create", {"toml": "{toml}", "project": "{slug}"}),
    _api("GET /configs/schema", is_list=True),
    _api("GET /configs/{config_id}"),
    _api("GET /configs/{config_id}/diff", query="?other={config_id}"),
    _api("GET /configs/{config_id}/manifests"),
    _api("POST /configs/{config_id}/freeze", "config.freeze"),
    _api("POST /configs/{config_id}/preflight", "preflight.request", {}),
    _api("GET /configs/{config_id}/preflight"),
    _api("POST /configs/{config_id}/request-approval", "config.request_approval", {}, at={"config_id": "unasked"}),
    _api("POST /configs/{config_id}/approve", "config.approve", {}, at={"config_id": "production"}),
    _api("POST /configs/{config_id}/reject", "config.reject", {"reason": "r"}, at={"config_id": "production"}),
    _api("POST /configs/{config_id}/withdraw-approval", "config.withdraw_approval", {"reason": "r"}, at={"config_id": "production"}),
    _api("GET /configs/{config_id}/approvals"),
    _api("GET /configs/{config_id}/judgement"),
    _api("GET /preflights/{report_id}"),
    _api("GET /runs", is_list=True),
    _api("POST /runs", "run.create", {"config": "{config}"}),
    _api("GET /runs/{run_id}"),
    _api("PATCH /runs/{run_id}", "run.label", {"name": "n"}),
    _api("DELETE /runs/{run_id}", "run.delete", at={"run_id": "archived"}),
    _api("POST /runs/{run_id}/launch", "run.launch", at={"run_id": "draft"}),
    _api("POST /runs/{run_id}/stop", "run.stop", {}),
    _api("POST /runs/{run_id}/stop", "run.force_stop", {"force": True}),
    _api("POST /runs/{run_id}/pause", "run.pause", {}),
    _api("POST /runs/{run_id}/save", "attempt.save"),
    _api("POST /runs/{run_id}/resume", "run.resume", {}, at={"run_id": "ended"}),
    _api("POST /runs/{run_id}/fork", "run.create", {"checkpoint": "{checkpoint}"}),
    *[_api(f"GET /runs/{{run_id}}/{part}") for part in ("pods", "events", "metrics", "flags", "preflight", "record", "forecast")],
    _api("GET /runs/{run_id}/logs"),
    _api("GET /runs/{run_id}/metrics/export"),
    _api("GET /runs/{run_id}/diff", query="?other={draft}"),
    _api("POST /runs/{run_id}/preflight", "preflight.request"),
    _api("POST /runs/{run_id}/archive", "run.archive", at={"run_id": "ended"}),
    _api("POST /runs/{run_id}/unarchive", "run.unarchive", at={"run_id": "archived"}),
    _api("POST /runs/{run_id}/keep", "run.keep", at={"run_id": "doomed"}),
    _api("GET /comparison", query="?run={run}&run={draft}", is_list=True),
    _api("GET /views", is_list=True),
    _api("POST /views", "view.save", {"name": "v", "project": "{slug}"}),
    _api("DELETE /views/{view_id}", "view.remove"),
    _api("GET /rulebook", query="?project={slug}"),
    _api("PATCH /rulebook/{rule_id}", "rulebook.set", {"low": 0.1, "high": 0.5, "reason": "r", "project": "{slug}"}),
    _api("DELETE /rulebook/{rule_id}", "rulebook.reset", query="?project={slug}"),
    _api("GET /clusters", is_list=True),
    _api("POST /clusters", "cluster.register", {"name": "c", "way": "in_cluster", "image": "i"}),
    _api("GET /clusters/{name}", is_list=True),
    _api("DELETE /clusters/{name}", "cluster.remove"),
    _api("POST /clusters/{name}/test", "cluster.test", writes=False),
    _api("GET /checkpoints", is_list=True),
    _api("GET /checkpoints/{checkpoint_id}"),
    _api("POST /checkpoints/{checkpoint_id}/verify", "checkpoint.verify"),
    _api("POST /checkpoints/{checkpoint_id}/pin", "checkpoint.pin", {"pinned": True}),
    _api("POST /checkpoints/{checkpoint_id}/pin", "checkpoint.unpin", {"pinned": False}, at={"checkpoint_id": "pinned"}),
    _api("GET /checkpoints/{checkpoint_id}/lineage"),
    _api("GET /search", query="?q=config", is_list=True),
    _api("GET /me", "token.read", is_list=True),
    _api("POST /me/password", "person.change_password", {"old": "pass", "new": "a much longer one"}, is_list=True),
    _api("GET /me/sign-ins", "token.read", is_list=True),
    _api("POST /me/sign-ins/end", "person.sign_out_elsewhere", {}, is_list=True, writes=False),
    _api("GET /people", "person.read"),
    _api("POST /people", "person.create", {"username": "fresh"}),
    _api("POST /people/{username}/deactivate", "person.deactivate"),
    _api("POST /people/{username}/activate", "person.activate", at={"username": "closed_name"}),
    _api("POST /people/{username}/password", "person.reset_password"),
    _api("GET /projects", is_list=True),
    _api("POST /projects", "project.create", {"name": "New"}),
    _api("GET /projects/{slug}"),
    _api("PATCH /projects/{slug}", "project.rename", {"name": "Other"}),
    _api("POST /projects/{slug}/archive", "project.archive"),
    _api("POST /projects/{slug}/restore", "project.restore"),
    _api("GET /projects/{slug}/members"),
    _api("POST /projects/{slug}/members", "member.add", {"username": "newcomer"}),
    _api("PATCH /projects/{slug}/members/{username}", "member.change", {"role": "operator"}),
    _api("DELETE /projects/{slug}/members/{username}", "member.remove"),
    _api("GET /tokens", "token.read", is_list=True),
    _api("POST /tokens", "token.create", {"name": "t"}, is_list=True),
    _api("POST /tokens/{token_id}/revoke", "token.revoke", is_list=True),
    _api("GET /audit", is_list=True),
    _api("GET /audit/export", is_list=True),
    _api("POST /audit/verify", "audit.verify", is_list=True, writes=False),
]  # fmt: skip

ROUTES = [*PAGES, *API]
