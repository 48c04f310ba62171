// The public API, and nothing but it. Every answer is data or a Problem that says what was wrong.
import { state } from "./state.js";
import { changed } from "./tabs.js";

export class Problem extends Error {
  constructor(message, { status = 0, code = "network", id = null } = {}) {
    super(message);
    Object.assign(this, { status, code, id });
  }
}

const PATIENCE_MS = 30_000;
/** Requests that are sent and change nothing, or tell of it themselves when they are done. */
const ASKING = /\/(search|chat)$/;

function headers() {
  const sent = {};
  if (state.token) sent.Authorization = `Bearer ${state.token}`;
  if (state.space) sent["X-Space"] = state.space;
  if (state.incognito) sent["X-Session-ID"] = state.incognito;
  return sent;
}

const SLOW_MS = 400;
let late = 0;

/** While an answer takes longer than a moment, the page says so. */
async function patiently(answer) {
  let counted = 0;
  const count = (step) => { late += step; document.documentElement.classList.toggle("waiting", late > 0); };
  const timer = setTimeout(() => { counted = 1; count(1); }, SLOW_MS);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
    count(-counted);
  }
}

/** Sends a request and gives the raw answer; anything but success is a Problem. */
export async function send(path, { method = "GET", body, lines, signal, accept, keepalive } = {}) {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  const sent = headers();
  if (body !== undefined) sent["Content-Type"] = "application/json";
  if (lines !== undefined) sent["Content-Type"] = "application/x-ndjson";
  if (accept) sent.Accept = accept;
  let answer;
  try {
    answer = await patiently(fetch(path, {
      method,
      headers: sent,
      keepalive,
      body: lines ?? (body === undefined ? undefined : JSON.stringify(body)),
      signal: accept ? signal : AbortSignal.any([limit, ...(signal ? [signal] : [])]),
    }));
  } catch (problem) {
    if (signal?.aborted) throw problem;
    if (!limit.aborted) state.away?.();
    throw new Problem(limit.aborted ? "timeout" : "unreachable");
  }
  if (answer.ok) {
    if (method !== "GET" && !ASKING.test(path) && !state.incognito) changed();
    return answer;
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.status === 401) state.ask?.();
  throw new Problem(said.error?.message ?? `HTTP ${answer.status}`, {
    status: answer.status,
    code: said.error?.code ?? String(answer.status),
    id: answer.headers.get("X-Correlation-ID"),
  });
}

export async function call(path, options) {
  const answer = await send(path, options);
  return answer.status === 204 ? null : answer.json();
}

export const get = (path, options) => call(path, options);
export const post = (path, body, options) => call(path, { ...options, method: "POST", body: body ?? {} });
export const patch = (path, body) => call(path, { method: "PATCH", body });
export const put = (path, body) => call(path, { method: "PUT", body });
export const remove = (path, body, options) => call(path, { ...options, method: "DELETE", body });
export const id = encodeURIComponent;

/** The address of a list: `query({ type: ["fact"], limit: 50 })`; what is empty is left out. */
export function query(fields) {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") sent.append(name, each);
    }
  }
  const text = sent.toString();
  return text ? `?${text}` : "";
}

/** Server-sent events of an answer, as `[name, data]`. */
export async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const name = /^event: (.*)$/m.exec(block)?.[1];
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (name && data) yield [name, JSON.parse(data)];
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
