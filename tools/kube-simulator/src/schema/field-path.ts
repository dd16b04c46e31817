/** Where a value is in its object; the root is `undefined`. Texts are made only for what is reported. */
export interface FieldPath {
  readonly parent: FieldPath | undefined;
  readonly step: string;
  readonly kind: 'field' | 'index';
}

/** `spec` at the root, `.spec` of a path otherwise. */
export function fieldOf(parent: FieldPath | undefined, name: string): FieldPath {
  return { parent, step: name, kind: 'field' };
}

/** `[0]` of a list, `[key]` of a map whose keys are not declared. */
export function entryOf(parent: FieldPath | undefined, key: number | string): FieldPath {
  return { parent, step: String(key), kind: 'index' };
}

/** `spec.list[0].name`; empty for the root. */
export function formatPath(path: FieldPath | undefined): string {
  const steps: string[] = [];
  for (let at = path; at !== undefined; at = at.parent) {
    steps.push(at.kind === 'index' ? `[${at.step}]` : at.parent === undefined ? at.step : `.${at.step}`);
  }
  return steps.toReversed().join('');
}
