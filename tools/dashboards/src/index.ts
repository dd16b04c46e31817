export { DASHBOARDS } from './all-dashboards.js';
export type { Dashboard, Panel, Query, Row, Unit, Variable } from './dashboard.js';
export { formatDashboard } from './format-dashboard.js';
export { drawDashboard } from './picture/draw-dashboard.js';
export { type DashboardReading, type RangeSeries, type SeriesReading, toSeriesReading } from './picture/reading.js';
export { escapeXml } from './picture/svg-text.js';
export { type PanelQuery, type QueryToTry, queriesToTry, type Selection } from './queries-to-try.js';
export { type Question, queriesOf, questionsIn, withOutputs } from './questions.js';
