// For whoever keeps the server running: how it fared over the last hours, the state of this memory, and who makes the vectors.
import { get, id, post, put, query, remove } from "../lib/api.js";
import { chart } from "../lib/charts.js";
import { fill, h } from "../lib/dom.js";
import { attempt, tell, trouble, warn } from "../lib/notices.js";
import { address, amend } from "../lib/router.js";
import { state } from "../lib/state.js";
import { moment, named, number, t } from "../lib/words.js";

const EVERY_MS = 10_000;
const RANGES = [60, 360, 1440];
const SHOWN = 20;
const SPELT_OUT = 40;
/** What may be put away because of a finding; of things told twice the first stays. */
const MENDED = { duplicates: 1, near_duplicates: 1, expired: 0, stale: 0, never_used: 0 };
const PROVIDERS = ["local", "openai", "ollama", "llamacpp", "custom_http"];

export function operations(params) {
  let minutes = Number(params.minutes) || RANGES[0];
  const charts = h("div", { class: "stack" });
  const since = h("p", { class: "facts", role: "status" });
  let failed = false;
  const look = async () => {
    const asked = minutes;
    const told = await get(`/v1/operations${query({ minutes })}`);
    if (asked !== minutes) return; // another range was chosen meanwhile
    failed = false;
    fill(since, told.since ? t("operations.since", { when: moment(told.since) }) : "");
    fill(charts, ...figures(told.points));
  };
  const choose = h("label", { class: "row" }, t("operations.range"), h("select", { onchange: (event) => { minutes = Number(event.target.value); amend({ minutes }); look().catch(warn); } },
    RANGES.map((each) => h("option", { value: each, selected: each === minutes }, t("operations.hours", { count: each / 60 })))));
  const first = () => look().catch((problem) => { failed = true; fill(charts, trouble(problem, first)); });
  const timer = state.admin ? setInterval(() => { if (!document.hidden) look().catch(() => {}); }, EVERY_MS) : null;
  if (state.admin) first();
  else charts.append(h("p", { class: "quiet" }, t("operations.admins")));
  const cards = [health(), ...(state.admin ? [provider()] : [])];
  const element = h("section", { class: "stack" }, h("div", { class: "row spread" }, h("h2", {}, t("nav.operations")), state.admin ? choose : null),
    since, charts, cards.map((card) => card.element));
  const refresh = () => {
    if (failed) first();
    cards.forEach((card) => { if (card.element.querySelector("[role=alert]")) card.load(); });
  };
  return { element, refresh, leave: () => clearInterval(timer) };
}

/** What each chart shows: something counted, how it stood, a time, or a share. */
const CHARTS = {
  traffic: [["requests", "count"], ["errors", "count", true], ["refused", "count"], ["request_p50_ms", "time"], ["request_p95_ms", "time"]],
  recall: [["recalls", "count"], ["hit_rate", "share"], ["recall_p95_ms", "time"], ["cache_rate", "share"]],
  vectors: [["backlog", "level"], ["backlog_age_s", "age"], ["failed", "level", true], ["embed_p50_ms", "time"], ["embed_p95_ms", "time"]],
  writing: [["writes", "count"], ["merged", "count"], ["trimmed", "count"]],
};

function figures(told) {
  const points = told.map((point) => ({ to: Date.parse(point.at), from: Date.parse(point.at) - point.seconds * 1000 }));
  return Object.entries(CHARTS).map(([group, charts]) => h("section", { class: "stack" }, h("h3", {}, t(`chart.group.${group}`)),
    h("div", { class: "charts" }, charts.map(([name, kind, bad]) => chart(t(`chart.${name}`), { points, values: told.map((point) => point[name]), kind, bad })))));
}

function health() {
  const place = h("div", { class: "card" }, h("h3", {}, t("health")), h("p", { class: "quiet" }, t("loading")));
  const load = () => get("/v1/health").then((report) => {
    const concerns = Object.entries(report.counts);
    fill(place, h("h3", {}, t("health")), h("p", { class: "facts" }, t("health.looked", { count: report.memories })),
      concerns.length ? h("ul", { class: "plain" }, concerns.map(([name, count]) => concern(name, count, report.findings, load))) : h("p", { class: "good-words" }, t("health.good")));
  }).catch((problem) => fill(place, h("h3", {}, t("health")), trouble(problem, load)));
  load();
  return { element: place, load };
}

function concern(name, count, findings, load) {
  const found = findings.filter((each) => each.concern === name).slice(0, SHOWN);
  const mend = (finding) => attempt(async () => {
    for (const one of finding.ids.slice(MENDED[name])) await post(`/v1/memories/${id(one)}/archive`);
    tell(t("done.archive"));
    await load();
  });
  const one = (finding) => h("li", { class: "row spread" }, h("div", { class: "finding" }, finding.ids.map((each) => h("a", { href: address("memories", { id: each }), "data-memory": each }, `…${each.slice(-6)}`)), h("p", { class: "facts" }, named(`why.${finding.reason}`, finding.why, finding.facts))),
    state.readOnly || !(name in MENDED) ? null : h("button", { class: "quiet", onclick: () => mend(finding) }, t(MENDED[name] ? "mend.repeats" : "archive")));
  return h("li", {}, h("details", { ontoggle: (event) => { if (event.target.open) spellOut(event.target); } }, h("summary", {}, t(`concern.${name}`), h("span", { class: "badge" }, number(count))),
    name === "contradictions" ? h("p", {}, h("a", { href: "#/memories" }, t("mend.decide"))) : null, h("ul", { class: "plain findings" }, found.map(one))));
}

/** The report has ids alone; what they say is asked for when somebody looks. What can't be had keeps its id. */
function spellOut(place) {
  [...place.querySelectorAll("a[data-memory]")].slice(0, SPELT_OUT).forEach((link) => {
    const { memory } = link.dataset;
    link.removeAttribute("data-memory");
    get(`/v1/memories/${id(memory)}`).then(({ text }) => { link.textContent = text; }, () => {});
  });
}

function provider() {
  const place = h("div", { class: "card" });
  const load = () => get("/v1/embedding-provider").then((set) => fill(place, ...shown(set)), (problem) => fill(place, h("h3", {}, t("provider")), trouble(problem, load)));
  const change = (work) => attempt(async () => { await work(); tell(t("saved")); await load(); });

  function shown(set) {
    const serving = set.serving ? `${set.serving.provider_type} · ${set.serving.model} · ${set.serving.dimensions}` : t("provider.none");
    const type = h("select", { "aria-label": t("provider.type") }, PROVIDERS.map((each) => h("option", { value: each, selected: each === (set.provider_type ?? "local") }, each)));
    const address = h("input", { placeholder: "http://…", value: set.endpoint_url ?? "", "aria-label": t("provider.address") });
    const model = h("input", { value: set.model ?? "", placeholder: t("provider.model"), "aria-label": t("provider.model") });
    const key = h("input", { type: "password", autocomplete: "off", placeholder: t(set.api_key_set ? "provider.key.set" : "provider.key"), "aria-label": t("provider.key") });
    const body = () => ({ provider_type: type.value, endpoint_url: address.value || null, model: model.value || null, ...(key.value ? { api_key: key.value } : {}) });
    return [h("h3", {}, t("provider")), h("p", {}, serving), set.building.length ? h("p", { class: "badge pending" }, t("provider.building")) : null, set.trouble ? h("p", { class: "bad-words" }, set.trouble) : null, set.pinned ? h("p", { class: "facts" }, t("provider.pinned", { provider: set.pinned })) : null,
      state.readOnly || set.pinned ? null : h("form", { class: "toolbar", onsubmit: (event) => { event.preventDefault(); change(() => put("/v1/embedding-provider", body())); } }, type, address, model, key,
        h("button", { class: "primary" }, t("save")), set.stored ? h("button", { type: "button", onclick: () => change(() => remove("/v1/embedding-provider")) }, t("provider.reset")) : null)];
  }

  load();
  return { element: place, load };
}
