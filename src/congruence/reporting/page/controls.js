// --- controls, and drawing anew when the page changes ---------------------------------------------------------------
for (const input of document.querySelectorAll("input[name=measure]")) input.addEventListener("change", () => {
  state.measure = Number(input.value); state.cursor = null;
  drawHeat(); drawMap();
});
for (const [id, at] of [["pair-a", 0], ["pair-b", 1]]) {
  const select = $(id);
  D.names.forEach((_, i) => select.append(el("option", { value: i }, short(starred(i), 60))));
  select.addEventListener("change", () => { const p = [...state.pair]; p[at] = Number(select.value); choose(...p); });
}
$("swap").addEventListener("click", () => choose(state.pair[1], state.pair[0]));
if (colourings.length) {
  const select = $("colour");
  colourings.forEach((x, i) => select.append(el("option", { value: i }, short(x.name, 60))));
  select.addEventListener("change", () => { state.colour = Number(select.value); drawScatter(); });
}
const drawAll = () => { drawHeat(); drawMap(); drawPair(); drawHistogram(); drawScatter(); drawConsensus(); drawCdf(); drawChoice(); };
const root = document.documentElement;
$("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  drawAll(); drawAgainst(false);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
let theme;
addEventListener("beforeprint", () => { theme = root.dataset.theme; root.dataset.theme = "light"; drawAll(); });
addEventListener("afterprint", () => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; drawAll(); });
let width = root.clientWidth, wait;
addEventListener("resize", () => { if (root.clientWidth === width) return; width = root.clientWidth; clearTimeout(wait); wait = setTimeout(drawAll, 120); });
drawAll(); drawAgainst(false); drawUnstable(false); drawMethods();
root.dataset.ready = Math.round(performance.now());
