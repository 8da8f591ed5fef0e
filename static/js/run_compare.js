// The page that compares runs.
import { CompareCharts } from "./charts/compare_charts.js";

const root = document.querySelector("[data-compare]");
if (root) new CompareCharts(root);
