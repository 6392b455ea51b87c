// --- controls, and redrawing when the page changes ------------------------------------------------------------------------
const root = document.documentElement;
const jump = (e) => { // a link within the page keeps what is chosen in the address
  e.preventDefault();
  const to = $(e.currentTarget.getAttribute("href").slice(1));
  to.scrollIntoView(); to.querySelector("h1, h2").focus({ preventScroll: true });
};
for (const link of document.querySelectorAll("nav a, .skip")) link.addEventListener("click", jump);
const drawAll = () => {
  drawAnswer(); drawFront(); drawClusters(); drawLevels(); drawCurve(); drawChoice(); drawRanking(); drawMatrix(); drawMap(); drawCompare();
  drawScatter(); drawHistogram(); drawPointTable(); drawPoint(); drawConsensus(); drawCdf(); drawMethods();
};
const renew = () => { // after something was hidden or put back: the answer is recomputed
  const focused = document.activeElement, key = focused && focused.getAttribute("aria-label"), inChips = focused && focused.closest("#chips");
  A = answerOf(countedNow());
  remember(); drawAll();
  const again = key && [...document.querySelectorAll("#ranking-table button")].find((b) => b.getAttribute("aria-label") === key.replace(/^(Hide|Show)/, (w) => w === "Hide" ? "Show" : "Hide"));
  if (again) again.focus({ preventScroll: true }); else if (inChips) { const first = $("chips").querySelector("button"); if (first) first.focus({ preventScroll: true }); }
};
for (const input of document.querySelectorAll("input[name=measure]")) input.addEventListener("change", () => { state.measure = Number(input.value); cursor = null; remember(); drawMatrix(); drawMap(); });
const search = $("search");
let waiting;
search.addEventListener("input", () => { state.search = search.value; drawRanking(); clearTimeout(waiting); waiting = setTimeout(() => { remember(); drawMap(); }, 150); });
search.addEventListener("keydown", (e) => { if (e.key === "Enter") { const first = rankedNow()[0]; if (first) choose([otherThan(first.i), first.i]); } });
$("unfold").addEventListener("click", () => { state.unfolded = !state.unfolded; drawRanking(); });
$("point-search").addEventListener("input", (e) => { pointSearch = e.target.value; drawPointTable(); });
$("unselect").addEventListener("click", () => select(null));
if (P.place) {
  colourings.forEach((x, i) => $("colour").append(el("option", { value: i }, short(x.name, 60))));
  $("colour").addEventListener("change", (e) => { state.colour = Number(e.target.value); remember(); drawScatter(); });
}
$("ranking-save").append(saver("clusterings", null, rankingRows));
$("heat-save").append(saver("matrix", () => heat, matrixRows), saver("all-pairs", null, pairRows, "CSV of all pairs"));
$("points-save").append(saver("points", P.place ? () => $("scatter") : null, pointRows));
if (D.steps.length) $("steps-save").append(saver("steps", () => document.querySelector("#steps svg"), () => [["step", "event", "before", "after", "shared", "p"], ...D.steps]));
if ($("drift")) $("drift-save").append(saver("drift", () => document.querySelector("#drift svg"), () => [["step", "cluster", "feature", "kind", "amount", "direction", "p", "alarm"], ...D.drift]));
$("theme").addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; drawAll(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
let theme, wasOpen;
addEventListener("beforeprint", () => {
  theme = root.dataset.theme; wasOpen = state.open;
  root.dataset.theme = "light"; printing = true; state.open = false;
  for (const d of document.querySelectorAll("details")) { d.dataset.was = d.open ? "open" : ""; d.open = true; }
  dock(); drawAll();
});
addEventListener("afterprint", () => {
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  for (const d of document.querySelectorAll("details")) d.open = d.dataset.was === "open";
  printing = false; state.open = wasOpen; dock(); drawAll();
});
let width = root.clientWidth, wait;
addEventListener("resize", () => { if (root.clientWidth === width) return; width = root.clientWidth; clearTimeout(wait); wait = setTimeout(drawAll, 120); });
for (const d of document.querySelectorAll("details")) d.addEventListener("toggle", () => { if (d.open && !printing) { drawChoice(); drawConsensus(); drawCdf(); } });
const start = () => {
  recall();
  search.value = state.search;
  if (P.place) $("colour").value = state.colour;
  const radio = document.querySelector(`input[name=measure][value="${state.measure}"]`);
  if (radio) radio.checked = true;
  A = answerOf(countedNow());
  dock(); drawAll();
};
addEventListener("hashchange", () => { if (location.hash.includes("=") && location.hash.slice(1) !== inAddress()) start(); });
start();
root.dataset.ready = Math.round(performance.now());
