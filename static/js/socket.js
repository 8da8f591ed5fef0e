// A WebSocket that comes back: grows its waits, spreads them, and tells since when it has been away.
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15000;
const STEADY_MS = 1000; // a socket that closes sooner was only opened to be told why it cannot serve
const SIGNED_OUT = 4401;
const FORBIDDEN = 4403; // coming back would not help

export class LiveSocket {
  constructor(path, { onMessage, onOpen, onState }) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.handlers = { onMessage, onOpen, onState };
    this.wait = FIRST_WAIT_MS;
    this.awaySince = null;
    this.isClosed = false;
    this.#connect();
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    clearTimeout(this.steadyTimer);
    this.socket?.close();
  }

  #connect() {
    this.socket = new WebSocket(this.url);
    this.socket.onopen = () => {
      this.steadyTimer = setTimeout(() => this.#steady(), STEADY_MS);
      this.handlers.onOpen?.();
    };
    this.socket.onmessage = (event) => this.handlers.onMessage(JSON.parse(event.data));
    this.socket.onclose = (event) => {
      if (event.code === SIGNED_OUT) document.dispatchEvent(new CustomEvent("safehold:signed-out"));
      if (event.code !== FORBIDDEN) this.#lost();
    };
  }

  #steady() {
    this.wait = FIRST_WAIT_MS;
    this.awaySince = null;
    this.handlers.onState?.(null);
  }

  #lost() {
    if (this.isClosed) return;
    clearTimeout(this.steadyTimer);
    this.awaySince ??= new Date();
    this.handlers.onState?.(this.awaySince);
    this.timer = setTimeout(() => this.#connect(), this.wait * (0.5 + Math.random()));
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
  }
}
