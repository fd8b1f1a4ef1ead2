// One connection for all open pages: a browser allows only six to a host, and a wall of
// monitors may have more pages than that. Pages say "hello" and "bye".

const ports = new Set();
let source = null;
let state = "connecting";
let tried = 0;
let timer;

const tell = (message) => {
  for (const port of ports) port.postMessage(message);
};

function setState(next) {
  if (next === state) return;
  state = next;
  tell({ kind: "connection", state });
}

function open() {
  clearTimeout(timer);
  source = new EventSource("/api/events");
  source.onopen = () => {
    tried = 0;
    setState("open");
  };
  source.onerror = () => {
    setState("lost");
    // After an answer that is no stream (a log-in that ran out, a restart) the browser gives up.
    if (source.readyState === EventSource.CLOSED) {
      tried += 1;
      timer = setTimeout(open, Math.min(1_000 * tried, 10_000));
    }
  };
  for (const kind of ["state", "round", "alert", "alert_changed", "health", "missed"]) {
    source.addEventListener(kind, (event) => tell({ kind, event: JSON.parse(event.data) }));
  }
}

function close() {
  clearTimeout(timer);
  source?.close();
  source = null;
  state = "connecting";
}

self.onconnect = ({ ports: [port] }) => {
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
