/** Renders charts as `helm template` does. @packageDocumentation */
export { type DescribedValue, describeValues } from './describe-values.js';
export { BUNDLE_PACKAGE, type BundleObject, renderBundle } from './render-bundle.js';
export { CHART, type ChartSettings, mergeValues, renderChart, renderNotes } from './render-chart.js';
export { MANIFEST_NAMESPACE, MANIFESTS, renderManifest } from './render-manifest.js';
export { hasRenderer, missingPackages, NEEDS_RENDERER } from './renderer-program.js';
export { type ValuesProblem, valuesProblems } from './values-problems.js';
