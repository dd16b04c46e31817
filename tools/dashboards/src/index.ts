export { DASHBOARDS } from './all-dashboards.js';
export type { Dashboard, Panel, Query, Row, Unit, Variable } from './dashboard.js';
export { formatDashboard } from './format-dashboard.js';
export { type QueryToTry, queriesToTry } from './queries-to-try.js';
export { type Question, queriesOf, questionsIn, withOutputs } from './questions.js';
