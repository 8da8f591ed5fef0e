"""Take the pictures of every page for the documentation, from a running service with its demo run.

    .venv/bin/python docs/images/take.py [--home .safehold] [--url http://127.0.0.1:8000]

Writes `pages/<name>-light.jpg` and `-dark.jpg`, the page that shows them (docs/reference/pages.md), and `run.png`, the
picture of the README.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
GALLERY = HERE.parent / "reference" / "pages.md"
HEAD = """# Pictures of every page

From a fresh service with its demo run, in both themes; made by `docs/images/take.py`.
"""
SIZE = {"width": 1440, "height": 900}


def main() -> None:
    """Sign in as the administrator and go through the pages, once a theme."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".safehold"))
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    options = parser.parse_args()
    (HERE / "pages").mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        for theme in ("light", "dark"):
            page = signed_in(browser, options, theme)
            for name, address in pages(options):
                page.goto(options.url + address)
                page.wait_for_load_state("networkidle")
                take(page, name, theme)
        browser.close()
    show(["sign-in", *(name for name, _ in pages(options))])


def show(names: list[str]) -> None:
    """Write the page with the pictures side by side."""
    parts = [HEAD]
    for name in names:
        files = [f"../images/pages/{name}-{theme}.jpg" for theme in ("light", "dark")]
        shown = [f"![{name}]({file})" for file in files if (GALLERY.parent / file).exists()]
        parts.append(f"## {name.replace('-', ' ').capitalize()}\n\n{' '.join(shown)}\n")
    GALLERY.write_text("\n".join(parts))


def take(page: Page, name: str, theme: str) -> None:
    """Keep the picture of the open page."""
    page.screenshot(path=HERE / "pages" / f"{name}-{theme}.jpg", quality=72)
    if name == "run" and theme == "light":
        page.screenshot(path=HERE / "run.png")


def signed_in(browser: Browser, options: argparse.Namespace, theme: str) -> Page:
    """Return a page of a browser that has signed in."""
    given = (options.home / "credentials").read_text()
    password = re.search(r"^admin\s+(\S+)", given, re.M)
    assert password, f"no password of admin in {options.home}/credentials"
    page = browser.new_context(
        viewport=SIZE, color_scheme=theme, reduced_motion="reduce"
    ).new_page()
    page.goto(f"{options.url}/sign-in")
    take(page, "sign-in", theme)
    page.fill("input[name=username]", "admin")
    page.fill("input[name=password]", password[1])
    page.press("input[name=password]", "Enter")
    page.wait_for_url("**/runs/**")
    return page


def pages(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield name and address of each page, with the newest of everything on it."""
    token = (options.home / "token").read_text().strip()
    api = httpx.Client(
        base_url=f"{options.url}/api/v1", headers={"Authorization": f"Bearer {token}"}
    )

    def ids(of: str) -> list[int]:
        return [one["id"] for one in api.get(of).raise_for_status().json()["items"]]

    runs, cards, configs, checkpoints = map(ids, ("runs", "cards", "configs", "checkpoints"))
    run = runs[-1]
    yield "runs", "/runs/"
    yield "run", f"/runs/{run}/"
    for tab in ("timeline", "attempts", "logs", "checkpoints", "proof"):
        yield f"run-{tab}", f"/runs/{run}/{tab}/"
    yield "compare", "/runs/compare?" + "&".join(f"run={one}" for one in runs[:2])
    yield "launch", "/runs/new/"
    yield "cards", "/cards/"
    yield "card", f"/cards/{cards[-1]}/"
    yield "configs", "/configs/"
    yield "config", f"/configs/{configs[-1]}/"
    yield "config-edit", f"/configs/new/?parent={configs[-1]}"
    yield "checkpoints", "/checkpoints/"
    yield "checkpoint", f"/checkpoints/{checkpoints[0]}/"
    yield "preflight", "/preflight/"
    yield "cluster", "/cluster/"
    yield "search", "/search/?q=demo"
    yield from (
        (f"settings-{part}", f"/settings/{part}/")
        for part in ("project", "members", "tokens", "audit", "account", "rulebook")
    )


if __name__ == "__main__":
    main()
