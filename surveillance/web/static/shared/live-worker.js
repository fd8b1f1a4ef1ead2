// One connection for all open pages: a browser allows only six to a host, and a wall of
// monitors may have more pages than that. Pages say "hello" and "bye".

const SILENT_MS = 14_000; // the server says something every 5 s; a net that is cut says nothing

const ports = new Set();
let source = null;
let state = "connecting";
let tried = 0;
let timer;
let silence;
let wasOpen = false;

const broadcast = (message) => {
  for (const port of ports) port.postMessage(message);
};

function setState(next) {
  if (next === state) return;
  state = next;
  broadcast({ kind: "connection", state });
}

function listenForSilence() {
  clearTimeout(silence);
  silence = setTimeout(() => {
    setState("lost");
    open();
  }, SILENT_MS);
}

function open() {
  clearTimeout(timer);
  source?.close();
  source = new EventSource("/api/events");
  let isNew = true;
  listenForSilence();
  source.onopen = () => {
    tried = 0;
    listenForSilence();
  };
  // The server says something as soon as it listens to what happens, which is after it answered.
  const hears = () => {
    listenForSilence();
    setState("open");
    // A new source, unlike one that came back, does not send the server the last event's id.
    if (isNew && wasOpen) broadcast({ kind: "missed", event: {} });
    [isNew, wasOpen] = [false, true];
  };
  source.onerror = () => {
    setState("lost");
    // After an answer that is no stream (a log-in that ran out, a restart) the browser gives up.
    if (source.readyState === EventSource.CLOSED) {
      clearTimeout(silence);
      tried += 1;
      timer = setTimeout(open, Math.min(1_000 * tried, 10_000));
    }
  };
  for (const kind of ["state", "round", "alert", "alert_changed", "health", "record", "missed"]) {
    source.addEventListener(kind, (event) => {
      hears();
      broadcast({ kind, event: JSON.parse(event.data) });
    });
  }
  source.addEventListener("here", hears);
}

function close() {
  clearTimeout(timer);
  clearTimeout(silence);
  source?.close();
  source = null;
  state = "connecting";
  wasOpen = false;
}

/** @type {any} */ (self).onconnect = ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data === "bye") {
      ports.delete(port);
      if (ports.size === 0) close();
      return;
    }
    ports.add(port);
    if (source) port.postMessage({ kind: "connection", state });
    else open();
  };
  port.start();
};
