// Why did it come up? A question, one or two recipes, and for every hit what spoke for it.
import { post } from "../lib/api.js";
import { bar } from "../lib/charts.js";
import { fill, h } from "../lib/dom.js";
import { attempt } from "../lib/notices.js";
import { address, amend } from "../lib/router.js";
import { ago, number, t } from "../lib/words.js";

const RECIPES = ["native", "recall", "longterm", "companion", "nova", "datachat"];

export function lab(params) {
  const wanted = { q: params.q ?? "", a: params.a ?? "native", b: params.b ?? "", budget: params.budget ?? "" };
  const results = h("div", { class: "columns results" });

  async function run() {
    amend(wanted);
    if (!wanted.q.trim()) return;
    const recipes = [wanted.a, wanted.b].filter(Boolean);
    results.setAttribute("aria-busy", "true");
    await attempt(async () => {
      const found = await Promise.all(recipes.map((recipe) => post("/v1/memories/search", {
        query: wanted.q, recipe, min_relevance: 0, limit: 20, ...(wanted.budget ? { token_budget: Number(wanted.budget) } : {}),
      })));
      fill(results, ...found.map((recall, index) => column(recall, found[1 - index])));
    });
    results.removeAttribute("aria-busy");
  }

  const choose = (name, label, extra = []) => h("label", {}, label, h("select", { onchange: (event) => { wanted[name] = event.target.value; run(); } },
    [...extra, ...RECIPES].map((each) => h("option", { value: each, selected: wanted[name] === each }, each || t("lab.alone")))));
  const element = h("section", { class: "lab" }, h("h2", {}, t("nav.lab")), h("p", { class: "lead" }, t("lab.lead")),
    h("form", { class: "toolbar", onsubmit: (event) => { event.preventDefault(); run(); } },
      h("input", { type: "search", "data-search": true, value: wanted.q, placeholder: t("lab.hint"), "aria-label": t("search"), oninput: (event) => { wanted.q = event.target.value; } }),
      choose("a", t("lab.recipe")), choose("b", t("lab.beside"), [""]),
      h("label", {}, t("lab.budget"), h("input", { type: "number", min: 1, max: 100000, value: wanted.budget, placeholder: "–", oninput: (event) => { wanted.budget = event.target.value; } })),
      h("button", { class: "primary" }, t("search"))), results);
  run();
  return { element };
}

function column(recall, other) {
  const facts = [t("found", { count: number(recall.hits.length) }), `${number(recall.timings_ms.total ?? 0)} ms`,
    recall.token_count ? t("lab.tokens", { count: number(recall.token_count) }) : null, recall.truncated ? t("lab.cut") : null,
    ...recall.degraded.map((leg) => t("lab.without", { leg }))];
  const places = new Map((other?.hits ?? []).map((hit, index) => [hit.id, index]));
  return h("div", { class: "stack" }, h("h3", {}, recall.recipe), h("p", { class: "facts" }, facts.filter(Boolean).join(" · ")),
    recall.hits.length ? h("ol", { class: "hits" }, recall.hits.map((hit, index) => card(hit, index, places.get(hit.id)))) : h("p", { class: "quiet" }, t("empty.search")));
}

/** Ranks are places (1 is best); everything else speaks for a hit the more the longer its bar is. */
function card(hit, index, elsewhere) {
  const signals = Object.entries(hit.signals);
  const ranks = signals.filter(([name]) => name.endsWith("rank"));
  const rest = signals.filter(([name]) => !name.endsWith("rank"));
  const where = hit.kind === "memory" ? address("memories", { id: hit.id }) : address("conversations", { id: hit.session_id, message: hit.id });
  return h("li", { class: "card" },
    h("p", {}, h("a", { href: where }, hit.text)),
    h("p", { class: "facts" }, [t(`kind.${hit.kind}`), hit.role, ago(hit.created_at), hit.truncated ? t("lab.shortened") : null, elsewhere !== undefined && elsewhere !== index ? t("lab.elsewhere", { place: number(elsewhere + 1) }) : null].filter(Boolean).join(" · ")),
    bar(t("relevance"), hit.relevance), bar(t("score"), hit.score, Math.max(1, hit.score)),
    ranks.map(([name, place]) => bar(`${name} ${number(place)}`, 1 / place)),
    rest.map(([name, value]) => bar(name, value, Math.max(1, value))));
}
