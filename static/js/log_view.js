// The log of one source of one attempt: follows the tail, keeps what was read, finds text.
import { ask } from "./ask.js";

const KEEP_CHARACTERS = 400_000; // what a browser scrolls without effort; the download has all of it
const ASK_EVERY_MS = 250;

export class LogView {
  constructor(root) {
    this.root = root;
    this.view = root.querySelector("[data-log-text]");
    this.search = root.querySelector("[data-log-search]");
    this.follow = root.querySelector("[data-log-follow]");
    this.text = this.view.textContent;
    this.next = Number(root.dataset.next);
    this.search.addEventListener("input", () => this.#draw());
    this.view.addEventListener("scroll", () => { this.follow.checked = this.#isAtEnd(); });
    this.follow.addEventListener("change", () => this.#toEnd());
    this.#draw();
  }

  destroy() {
    this.isGone = true;
    clearTimeout(this.timer);
  }

  // The message says that there is more; the text comes from the server, so that none is missed.
  receiveLog(message) {
    const { attempt, source } = this.root.dataset;
    if (message.items.some((item) => String(item.attempt) === attempt && item.source === source && item.next > this.next)) this.refetch();
  }

  refetch() {
    this.timer ||= setTimeout(() => this.#ask(), ASK_EVERY_MS);
  }

  async #ask() {
    this.timer = 0;
    const url = new URL(this.root.dataset.tailUrl, location.href);
    url.searchParams.set("offset", this.next);
    const response = await ask(url);
    if (this.isGone || !response) return;
    const { text, next, has_more: hasMore } = await response.json();
    this.next = next;
    if (text) this.#add(text);
    if (hasMore) this.refetch();
  }

  #add(text) {
    this.text = (this.text + text).slice(-KEEP_CHARACTERS);
    this.#draw();
  }

  #draw() {
    const wanted = this.search.value.trim().toLowerCase();
    const lines = wanted ? this.text.split("\n").filter((line) => line.toLowerCase().includes(wanted)) : null;
    this.view.textContent = lines ? lines.join("\n") : this.text;
    const count = this.root.querySelector("[data-log-count]");
    count.textContent = lines ? count.dataset.logCount.replace("{n}", lines.length) : "";
    if (this.follow.checked) this.#toEnd();
  }

  #isAtEnd() {
    return this.view.scrollHeight - this.view.scrollTop - this.view.clientHeight < 24;
  }

  #toEnd() {
    if (this.follow.checked) this.view.scrollTop = this.view.scrollHeight;
  }
}
