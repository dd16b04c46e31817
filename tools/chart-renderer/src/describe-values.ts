import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml';
import { CHART } from './render-chart.js';

/** A value of the chart, as values.yaml describes it. */
export interface DescribedValue {
  /** As in `--set`: `agent.topology`. */
  readonly path: string;
  /** What stands after `# --`. */
  readonly description: string;
  /** As JSON. */
  readonly defaultValue: string;
}

/** Each value of values.yaml that a comment `# --` describes, in the order of the file. */
export function describeValues(): readonly DescribedValue[] {
  const { contents } = parseDocument(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  return isMap(contents) ? describeMap(contents, '') : [];
}

function describeMap(map: YAMLMap, prefix: string): DescribedValue[] {
  return map.items.flatMap((pair, index) => {
    const path = `${prefix}${keyOf(pair)}`;
    // The comment of the first key of a map is that of the map.
    const comment = (index === 0 ? map.commentBefore : undefined) ?? commentOf(pair);
    const description = parseComment(comment);
    if (description !== undefined) return [{ path, description, defaultValue: JSON.stringify(pair.value) }];
    return isMap(pair.value) ? describeMap(pair.value, `${path}.`) : [];
  });
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : '';
}

function commentOf({ key }: Pair): string | undefined {
  return isScalar(key) ? (key.commentBefore ?? undefined) : undefined;
}

/** Lines after `--`, joined. */
function parseComment(comment: string | undefined): string | undefined {
  const lines = (comment ?? '').split('\n').map((line) => line.trim());
  const start = lines.findIndex((line) => line.startsWith('--'));
  return start === -1 ? undefined : lines.slice(start).join(' ').slice(2).trim();
}
