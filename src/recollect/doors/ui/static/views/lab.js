// Why did it come up? A question, one or two recipes, and for every hit what spoke for it and where the budget ended.
import { post } from "../lib/api.js";
import { bar } from "../lib/charts.js";
import { fill, h } from "../lib/dom.js";
import { searchField } from "../lib/icons.js";
import { trouble } from "../lib/notices.js";
import { address, amend } from "../lib/router.js";
import { state } from "../lib/state.js";
import { ago, known, named, number, t } from "../lib/words.js";

const RECIPES = ["native", "recall", "longterm", "companion", "nova", "datachat"];
const MOST = 20;
const NO_LIMIT = 1_000_000_000;
const RANK = "_rank"; // some recipes tell the place itself: 1 is best

export function lab(params) {
  const wanted = { q: params.q ?? "", a: params.a ?? "native", b: params.b ?? "", budget: params.budget ?? "" };
  const results = h("div", { class: "columns results" });
  let round = 0;

  /** What a recipe finds within its budget, and what it would have found without one: that shows the cut, and counts tokens. */
  async function ask(recipe) {
    const question = { query: wanted.q, recipe, looking: true, min_relevance: 0, limit: MOST };
    const budget = Number(wanted.budget) || null;
    const within = await post("/v1/memories/search", budget ? { ...question, token_budget: budget } : question);
    const complete = !within.truncated && within.hits.every((hit) => hit.tokens !== null);
    const whole = complete ? within : await post("/v1/memories/search", { ...question, token_budget: NO_LIMIT });
    const kept = new Set(within.hits.map((hit) => hit.id));
    const tokens = new Map(whole.hits.map((hit) => [hit.id, hit.tokens]));
    const hits = within.hits.map((hit) => ({ ...hit, tokens: hit.tokens ?? tokens.get(hit.id) }));
    return { ...within, hits, budget, left: whole.hits.filter((hit) => !kept.has(hit.id)) };
  }

  async function run() {
    amend(wanted);
    const mine = (round += 1);
    const empty = state.incognito ? ["empty.incognito", "empty.incognito.why"] : wanted.q.trim() ? null : ["lab.empty", "lab.empty.why"];
    if (empty) {
      fill(results, h("div", { class: "empty" }, h("h2", {}, t(empty[0])), h("p", {}, t(empty[1]))));
      return;
    }
    results.setAttribute("aria-busy", "true");
    const shown = await Promise.all([wanted.a, wanted.b].filter(Boolean).map(ask)).then(
      (found) => found.map((recall, index) => column(recall, found[1 - index])),
      (problem) => [h("div", { class: "empty" }, trouble(problem, run))]);
    if (mine !== round) return;
    fill(results, ...shown);
    results.removeAttribute("aria-busy");
  }

  const choose = (name, label, extra = []) => h("label", {}, label, h("select", { onchange: (event) => { wanted[name] = event.target.value; run(); } },
    [...extra, ...RECIPES].map((each) => h("option", { value: each, selected: wanted[name] === each }, each || t("lab.alone")))));
  const element = h("section", { class: "lab" }, h("div", {}, h("h2", {}, t("nav.lab")), h("p", { class: "lead" }, t("lab.lead"))),
    h("form", { class: "toolbar", onsubmit: (event) => { event.preventDefault(); run(); } },
      searchField({ value: wanted.q, placeholder: t("lab.hint"), oninput: (event) => { wanted.q = event.target.value; } }),
      choose("a", t("lab.recipe")), choose("b", t("lab.beside"), [""]),
      h("label", {}, t("lab.budget"), h("input", { type: "number", min: 1, max: 100000, value: wanted.budget, placeholder: "–", oninput: (event) => { wanted.budget = event.target.value; } })),
      h("button", { class: "primary" }, t("search"))), results);
  run();
  return { element, refresh: () => { if (results.querySelector("[role=alert]")) run(); } };
}

function column(recall, other) {
  const facts = [t("found", { count: recall.hits.length }), `${number(recall.timings_ms.total ?? 0)} ms`, recall.truncated ? t("lab.cut") : null,
    ...recall.degraded.map((leg) => named(`reason.${leg}`, t("lab.without", { leg: named(`leg.${leg}`, leg) })))];
  const all = [...recall.hits, ...recall.left];
  const places = new Map((other?.hits ?? []).map((hit, index) => [hit.id, index + 1]));
  const standing = standings(all);
  const best = Math.max(...all.map((hit) => hit.score), 0);
  let sum = 0;
  const shown = (hit, index, left) => {
    sum += hit.tokens;
    return card(hit, { place: index + 1, elsewhere: places.get(hit.id), standing: standing.get(hit.id), left, best, sum, budget: recall.budget });
  };
  const kept = recall.hits.map((hit, index) => shown(hit, index, false));
  const left = recall.left.map((hit, index) => shown(hit, recall.hits.length + index, true));
  return h("div", { class: "stack" }, h("div", {}, h("h3", {}, recall.recipe), h("p", { class: "facts" }, named(`recipe.${recall.recipe}`, "")), h("p", { class: "facts" }, facts.filter(Boolean).join(" · "))),
    recall.budget ? bar(t("lab.tokens"), recall.token_count, recall.budget, `${number(recall.token_count)} / ${number(recall.budget)}`) : null,
    kept.length ? h("ol", { class: "hits" }, kept) : h("p", { class: "quiet" }, t("empty.search")),
    left.length ? [h("p", { class: "cut-off" }, recall.budget ? t("lab.cut.here", { count: recall.budget }) : t("lab.cut.own")), h("ol", { class: "hits", start: kept.length + 1 }, left)] : null);
}

/** The place of each hit by each thing that spoke for it, and by the score alone: `id → { lexical: 2, score: 1 }`. */
function standings(hits) {
  const standing = new Map(hits.map((hit) => [hit.id, {}]));
  const names = new Set(hits.flatMap((hit) => Object.keys(hit.signals)));
  for (const name of ["score", ...names]) {
    const value = (hit) => (name === "score" ? hit.score : name.endsWith(RANK) ? -hit.signals[name] : hit.signals[name]);
    hits.filter((hit) => name === "score" || name in hit.signals).sort((one, two) => value(two) - value(one)).forEach((hit, index) => { standing.get(hit.id)[name] = index + 1; });
  }
  return standing;
}

/** What the server calls a signal, in words; one that is new to the page keeps its name. */
const plainly = (name) => (known(`leg.${name}`) ? t(`leg.${name}`) : name);

/** `elsewhere`: its place in the other column. A place by score that differs from its own was moved by something else: variety (MMR), a quote, or a later word. */
function card(hit, { place, elsewhere, standing, left, best, sum, budget }) {
  const where = hit.kind === "memory" ? address("memories", { id: hit.id }) : address("conversations", { id: hit.session_id, message: hit.id });
  const moved = !left && standing.score !== place ? t("lab.moved", { place: standing.score }) : null;
  const facts = [t(`kind.${hit.kind}`), t(`role.${hit.role}`), ago(hit.created_at), t("lab.size", { count: hit.tokens }), hit.truncated ? t("lab.shortened") : null,
    elsewhere !== undefined && elsewhere !== place ? t("lab.elsewhere", { place: elsewhere }) : null];
  const leg = ([name, value]) => {
    const rank = hit.signals[`${name}${RANK}`] ?? (name.endsWith(RANK) ? value : standing[name]);
    const plain = plainly(name.replace(RANK, ""));
    const mark = h("span", { class: "rank", title: t("lab.rank", { place: rank, name: plain }) }, `#${number(rank)}`);
    return name.endsWith(RANK) ? bar([plain, " ", mark], 1 / value) : bar([plain, " ", mark], value, Math.max(1, value));
  };
  const legs = Object.entries(hit.signals).filter(([name]) => !(name.endsWith(RANK) && name.replace(RANK, "") in hit.signals));
  return h("li", { class: left ? "card left-out" : "card" }, h("div", { class: "hit" },
    h("div", {}, h("p", {}, h("a", { href: where }, hit.text)),
      h("p", { class: "facts" }, facts.filter(Boolean).join(" · "), moved ? h("span", { class: "badge" }, moved) : null)),
    h("div", { class: "bars" }, bar(t("relevance"), hit.relevance), bar(t("score"), hit.score, best), legs.map(leg),
      budget ? bar(t("lab.sum"), sum, budget, `${number(sum)} / ${number(budget)}`) : null)));
}
