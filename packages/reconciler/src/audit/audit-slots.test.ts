import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import {
  AUDIT_SLOT_NAMES,
  type AuditSlot,
  batchesToDrop,
  emptySlot,
  planSlotDrop,
  planSlotWrite,
  readSlot,
  readStoredAudit,
} from './audit-slots.js';

const A = 'default/a';
const B = 'default/b';

/** Slots like in an API server. */
class Slots {
  readonly objects = new Map<string, KubernetesObject>(AUDIT_SLOT_NAMES.map((name) => [name, emptySlot('ns', name)]));

  get read(): ReadonlyMap<string, AuditSlot> {
    return new Map([...this.objects].map(([name, object]) => [name, readSlot(object)]));
  }

  /** Returns the slot. */
  write(pool: string, octets: number, slotOctets?: number): string | undefined {
    const write = planSlotWrite(this.read, { pool, text: 'x'.repeat(octets) }, slotOctets);
    if (write !== undefined) this.patch(write.slot.name, write.patch['data'] as object);
    return write?.slot.name.slice(-2);
  }

  patch(name: string, data: object): void {
    const object = this.objects.get(name) ?? emptySlot('ns', name);
    const entries = Object.entries({ ...(readField(object, 'data') as object | undefined), ...data }).filter(
      ([, text]) => text !== null,
    );
    const written: KubernetesObject & { readonly data: object } = { ...object, data: Object.fromEntries(entries) };
    this.objects.set(name, written);
  }

  /** Numbers of the batches of a pool. */
  batches(pool: string): number[] {
    return [...this.read.values()].flatMap(({ batches }) =>
      batches.filter((batch) => batch.pool === pool).map(({ number }) => number),
    );
  }
}

describe('slots', () => {
  it('are 64, with the names that the Role of the chart has', () => {
    expect([AUDIT_SLOT_NAMES.length, AUDIT_SLOT_NAMES[0], AUDIT_SLOT_NAMES[63]]).toEqual([
      64,
      'vmdhcp-audit-00',
      'vmdhcp-audit-63',
    ]);
  });

  it('are filled one after the other, and evenly when all are full', () => {
    const slots = new Slots();
    expect([slots.write(A, 600, 1_000), slots.write(B, 200, 1_000), slots.write(A, 600, 1_000)]).toEqual(['00', '00', '01']);
    for (let count = 2; count < 64; count++) slots.write(A, 600, 1_000);
    expect(slots.write(A, 600, 1_000), 'the smallest').toBe('01');
    expect(slots.write(A, 600, 1_000)).toBe('02');
  });

  it('never exceed the size of a ConfigMap', () => {
    const slots = new Slots();
    for (const name of AUDIT_SLOT_NAMES) slots.patch(name, { note: 'x'.repeat(900_000) });
    expect(slots.write(A, 200_000)).toBeUndefined();
    expect(slots.write(A, 90_000)).toBe('00');
  });

  it('are read whatever they contain', () => {
    const slots = new Slots();
    slots.write(A, 10);
    slots.patch(AUDIT_SLOT_NAMES[0] ?? '', { note: 'x', '000000000009': 'no batch', '000000000010': '{"pool":7}\n' });
    const other = { metadata: { namespace: 'ns', name: 'kube-root-ca.crt' } };
    const { logs, slots: read } = readStoredAudit([other, ...slots.objects.values()]);
    expect([...logs.keys()]).toEqual([A]);
    expect(read.size).toBe(64);
  });
});

describe('batchesToDrop', () => {
  const noneOpen = () => 0;

  it('nothing while there is room', () => {
    const slots = new Slots();
    slots.write(A, 900);
    expect(batchesToDrop(slots.read, { mostOctets: 1_000 }, noneOpen)).toBeUndefined();
  });

  it('the oldest of the pool with the most, as many as one patch of one slot may delete', () => {
    const slots = new Slots();
    for (const pool of [A, A, B, A, A]) slots.write(pool, 1_000, 3_500);
    const drop = batchesToDrop(slots.read, { mostOctets: 2_500, slotOctets: 3_500 }, noneOpen);
    expect(drop).toEqual({ pool: A, slot: 'vmdhcp-audit-00', numbers: new Set([1, 2]) });
    if (drop !== undefined) slots.patch(drop.slot, planSlotDrop(drop)['data'] as object);
    expect([slots.batches(A), slots.batches(B)]).toEqual([[4, 5], [3]]);
  });

  it('not those of a pool whose assignments have not ended, even if it has the most', () => {
    const slots = new Slots();
    for (const pool of [A, A, A, B, B]) slots.write(pool, 1_000);
    expect(batchesToDrop(slots.read, { mostOctets: 1 }, (pool) => (pool === A ? 5 : 0))?.pool).toBe(B);
    expect(
      batchesToDrop(slots.read, { mostOctets: 1 }, () => 5),
      'all have room',
    ).toBeUndefined();
  });
});
