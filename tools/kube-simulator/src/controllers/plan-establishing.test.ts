import { describe, expect, it } from 'vitest';
import { type Definition, type DefinitionStatus, planEstablishing } from './plan-establishing.js';

const definition = (plural: string, kind: string, status?: DefinitionStatus): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: plural.slice(0, -1), shortNames: ['ippl'], kind, listKind: `${kind}List` },
  },
  status: status ?? { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
});

/** The statuses from the first to the last. */
const establish = (start: Definition, others: readonly Definition[]): DefinitionStatus[] => {
  const statuses: DefinitionStatus[] = [];
  let current = start;
  for (
    let status = planEstablishing(current, others, new Date(0));
    status;
    status = planEstablishing(current, others, new Date(0))
  ) {
    statuses.push(status);
    current = { ...current, status };
  }
  return statuses;
};

const words = (statuses: DefinitionStatus[]) =>
  statuses.map(({ conditions }) =>
    conditions?.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
  );

describe('a definition', () => {
  it('gets its names, then its kind is served', () => {
    const statuses = establish(definition('ippools', 'IPPool'), []);
    expect(words(statuses)).toEqual([
      [
        'NamesAccepted=True NoConflicts: no conflicts found',
        'Established=False Installing: the initial names have been accepted',
      ],
      [
        'NamesAccepted=True NoConflicts: no conflicts found',
        'Established=True InitialNamesAccepted: the initial names have been accepted',
      ],
    ]);
    expect(JSON.stringify(statuses[1]?.acceptedNames)).toBe(
      '{"plural":"ippools","singular":"ippool","shortNames":["ippl"],"kind":"IPPool","listKind":"IPPoolList"}',
    );
    expect(statuses[1]).toMatchObject({ storedVersions: ['v1'] });
  });

  it('whose kind another has is not served, and keeps the names that are free', () => {
    const first = definition('ippools', 'IPPool');
    const served = { ...first, status: establish(first, []).at(-1) ?? {} };
    const statuses = establish(definition('foos', 'IPPool'), [served]);
    expect(words(statuses)).toEqual([
      [
        'NamesAccepted=False ListKindConflict: "IPPoolList" is already in use',
        'Established=False NotAccepted: not all names are accepted',
      ],
    ]);
    expect(statuses[0]?.acceptedNames).toEqual({ plural: 'foos', singular: 'foo', kind: '' });
    const waiting = { ...definition('foos', 'IPPool'), status: statuses[0] ?? {} };
    expect(words(establish(waiting, [])).at(-1), 'when the other is gone').toContain(
      'Established=True InitialNamesAccepted: the initial names have been accepted',
    );
  });

  it('that was served stays so', () => {
    const first = definition('ippools', 'IPPool');
    const served = { ...first, status: establish(first, []).at(-1) ?? {} };
    expect(planEstablishing(served, [], new Date(1_000_000))).toBeUndefined();
  });
});
