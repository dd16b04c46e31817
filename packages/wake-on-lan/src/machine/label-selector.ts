/** Label selectors as Kubernetes defines them. An unknown operator selects nothing. */

export interface LabelRequirement {
  readonly key: string;
  /** `In`, `NotIn`, `Exists`, `DoesNotExist`. */
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

type Labels = Readonly<Record<string, string>>;

/** True if all requirements are met; an empty selector selects every object. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((requirement) => isMet(requirement, labels))
  );
}

/** The operators of a selector that Kubernetes does not have. */
export function unknownOperators({ matchExpressions = [] }: LabelSelector): string[] {
  return matchExpressions.map(({ operator }) => operator).filter((operator) => !OPERATORS.has(operator));
}

const OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

function isMet({ key, operator, values = [] }: LabelRequirement, labels: Labels): boolean {
  const value = labelOf(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
