// For whoever keeps the server running: what the counters say over time, the state of this memory, and who makes the vectors.
import { get, id, post, put, remove, send } from "../lib/api.js";
import { line } from "../lib/charts.js";
import { fill, h } from "../lib/dom.js";
import { attempt, tell, warn } from "../lib/notices.js";
import { address } from "../lib/router.js";
import { state } from "../lib/state.js";
import { number, said, t } from "../lib/words.js";

const EVERY_MS = 5000;
const KEPT = 120;
const SHOWN = 20;
/** What may be put away because of a finding; of things told twice the first stays. */
const MENDED = { duplicates: 1, near_duplicates: 1, expired: 0, stale: 0, never_used: 0 };
const PROVIDERS = ["local", "openai", "ollama", "llamacpp", "custom_http"];

export function operations() {
  const charts = h("div", { class: "charts" });
  const element = h("section", { class: "stack" }, h("h2", {}, t("nav.operations")), charts, health(), state.admin ? provider() : null);
  const seen = [];
  const look = async () => {
    seen.push(read(await (await send("/metrics")).text()));
    if (seen.length > KEPT) seen.shift();
    fill(charts, ...figures(seen));
  };
  let timer = null;
  if (state.admin) {
    look().then(() => { timer = setInterval(() => look().catch(() => {}), EVERY_MS); }).catch(warn);
  } else charts.append(h("p", { class: "quiet" }, t("operations.admins")));
  return { element, leave: () => clearInterval(timer) };
}

/** The counters of an exposition, by name; what differs only in its labels is added up, except where the labels are asked for. */
function read(text) {
  const all = [];
  for (const each of text.split("\n")) {
    const found = /^(\w+)(?:\{(.*)\})? ([\d.e+-]+|NaN)$/.exec(each);
    if (found) all.push({ name: found[1], labels: Object.fromEntries([...(found[2] ?? "").matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value])), value: Number(found[3]) });
  }
  return { at: Date.now(), all };
}

const sum = (seen, name, fits = () => true) => seen.all.filter((each) => each.name === name && fits(each.labels)).reduce((total, each) => total + each.value, 0);

/** A percentile of a histogram between two looks, in milliseconds. */
function percentile(before, after, name, share) {
  const counts = new Map();
  for (const [look, sign] of [[after, 1], [before, -1]]) {
    for (const each of look?.all ?? []) {
      if (each.name === `${name}_bucket`) counts.set(each.labels.le, (counts.get(each.labels.le) ?? 0) + sign * each.value);
    }
  }
  const steps = [...counts].map(([edge, count]) => [edge === "+Inf" ? Infinity : Number(edge), count]).sort(([a], [b]) => a - b);
  const total = steps.at(-1)?.[1] ?? 0;
  const [edge] = steps.find(([, count]) => total && count >= total * share) ?? [0];
  return edge === Infinity ? steps.at(-2)[0] * 1000 : edge * 1000;
}

/** The share of all recalls so far that found anything. */
function hitRate(look) {
  const all = sum(look, "recollect_recall_hits_count");
  const none = sum(look, "recollect_recall_hits_bucket", (labels) => Number(labels.le) === 0);
  return all ? (100 * (all - none)) / all : 0;
}

function cacheRate(look) {
  const all = sum(look, "recollect_cache_lookups_total");
  return all ? (100 * sum(look, "recollect_cache_lookups_total", (labels) => labels.result === "hit")) / all : 0;
}

function figures(seen) {
  const between = (measure) => seen.map((look, index) => measure(index ? seen[index - 1] : null, look));
  const gained = (name, fits) => between((before, after) => (before ? Math.max(0, sum(after, name, fits) - sum(before, name, fits)) : 0));
  const level = (name) => seen.map((look) => sum(look, name));
  const failed = (labels) => labels.status?.startsWith("5");
  return [
    line(t("chart.requests"), gained("recollect_requests_total")), line(t("chart.errors"), gained("recollect_requests_total", failed)),
    line(t("chart.p50"), between((before, after) => percentile(before, after, "recollect_request_seconds", 0.5)), " ms"),
    line(t("chart.p95"), between((before, after) => percentile(before, after, "recollect_request_seconds", 0.95)), " ms"),
    line(t("chart.backlog"), level("recollect_embedding_backlog")), line(t("chart.age"), level("recollect_embedding_backlog_age_seconds"), " s"),
    line(t("chart.embed"), between((before, after) => percentile(before, after, "recollect_embedding_wait_seconds", 0.5)), " ms"),
    line(t("chart.recall"), between((before, after) => percentile(before, after, "recollect_recall_seconds", 0.95)), " ms"),
    line(t("chart.writes"), gained("recollect_writes_total")), line(t("chart.merged"), gained("recollect_dedupe_saves_total")),
    line(t("chart.recalls"), gained("recollect_recall_hits_count")),
    line(t("chart.hits"), seen.map(hitRate), " %"),
    line(t("chart.caches"), seen.map(cacheRate), " %"),
    line(t("chart.trimmed"), gained("recollect_trims_total")), line(t("chart.refused"), gained("recollect_refusals_total")),
  ];
}

function health() {
  const place = h("div", { class: "card" }, h("h3", {}, t("health")), h("p", { class: "quiet" }, t("loading")));
  const load = () => get("/v1/health").then((report) => {
    const concerns = Object.entries(report.counts);
    fill(place, h("h3", {}, t("health")), h("p", { class: "facts" }, t("health.looked", { count: number(report.memories) })),
      concerns.length ? h("ul", { class: "plain" }, concerns.map(([name, count]) => concern(name, count, report.findings, load))) : h("p", { class: "good-words" }, t("health.good")));
  }).catch((problem) => fill(place, h("h3", {}, t("health")), h("p", { class: "bad-words" }, said(problem))));
  load();
  return place;
}

function concern(name, count, findings, load) {
  const found = findings.filter((each) => each.concern === name).slice(0, SHOWN);
  const mend = (finding) => attempt(async () => {
    for (const one of finding.ids.slice(MENDED[name])) await post(`/v1/memories/${id(one)}/archive`);
    tell(t("done.archive"));
    await load();
  });
  const one = (finding) => h("li", { class: "row spread" }, h("span", {}, finding.ids.map((each) => [h("a", { href: address("memories", { id: each }) }, each.slice(-8)), " "]), finding.why),
    state.readOnly || !(name in MENDED) ? null : h("button", { class: "quiet", onclick: () => mend(finding) }, t(MENDED[name] ? "mend.repeats" : "archive")));
  return h("li", {}, h("details", {}, h("summary", {}, t(`concern.${name}`), h("span", { class: "badge" }, number(count))),
    name === "contradictions" ? h("p", {}, h("a", { href: "#/memories" }, t("mend.decide"))) : null, h("ul", { class: "plain findings" }, found.map(one))));
}

function provider() {
  const place = h("div", { class: "card" });
  const load = () => get("/v1/embedding-provider").then((set) => fill(place, ...shown(set))).catch(warn);
  const change = (work) => attempt(async () => { await work(); tell(t("saved")); await load(); });

  function shown(set) {
    const serving = set.serving ? `${set.serving.provider_type} · ${set.serving.model} · ${set.serving.dimensions}` : t("provider.none");
    const type = h("select", { "aria-label": t("provider.type") }, PROVIDERS.map((each) => h("option", { value: each, selected: each === (set.provider_type ?? "local") }, each)));
    const address = h("input", { placeholder: "http://…", value: set.endpoint_url ?? "", "aria-label": t("provider.address") });
    const model = h("input", { value: set.model ?? "", placeholder: t("provider.model"), "aria-label": t("provider.model") });
    const key = h("input", { type: "password", autocomplete: "off", placeholder: t(set.api_key_set ? "provider.key.set" : "provider.key"), "aria-label": t("provider.key") });
    const body = () => ({ provider_type: type.value, endpoint_url: address.value || null, model: model.value || null, ...(key.value ? { api_key: key.value } : {}) });
    return [h("h3", {}, t("provider")), h("p", {}, serving), set.building.length ? h("p", { class: "badge pending" }, t("provider.building")) : null, set.trouble ? h("p", { class: "bad-words" }, set.trouble) : null, set.pinned ? h("p", { class: "facts" }, set.pinned) : null,
      state.readOnly || set.pinned ? null : h("form", { class: "toolbar", onsubmit: (event) => { event.preventDefault(); change(() => put("/v1/embedding-provider", body())); } }, type, address, model, key,
        h("button", { class: "primary" }, t("save")), set.stored ? h("button", { type: "button", onclick: () => change(() => remove("/v1/embedding-provider")) }, t("provider.reset")) : null)];
  }

  load();
  return place;
}
