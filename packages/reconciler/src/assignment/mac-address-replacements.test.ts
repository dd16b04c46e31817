import { describe, expect, it } from 'vitest';
import type { Candidate } from './address-request.js';
import type { LastOwners } from './assignment-plan.js';
import { MacAddressReplacements } from './mac-address-replacements.js';

const [A, B, C, D] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b', '02:00:00:00:00:0c', '02:00:00:00:00:0d'] as const;

interface Interface {
  readonly owner: string;
  readonly mac: string;
  /** Its last address, and whether it has it now according to its own record. */
  readonly had?: number;
  readonly has?: true;
  readonly replaces?: readonly string[];
}

const candidate = ({ owner, mac, had, has, replaces }: Interface): Candidate => ({
  macAddress: mac,
  poolKey: '',
  request: { owner, claims: [] },
  ...(had !== undefined && { previous: had }),
  ...(has && { holdsPrevious: has }),
  ...(replaces !== undefined && { replaces }),
});

function after(
  recorded: Readonly<Record<string, number>>,
  interfaces: readonly Interface[],
  owners?: Readonly<Record<string, readonly [string, number]>>,
) {
  const lastOwners: LastOwners | undefined =
    owners && new Map(Object.entries(owners).map(([mac, [owner, address]]) => [mac, { owner, address }]));
  const former = new MacAddressReplacements(new Map(Object.entries(recorded)), interfaces.map(candidate), lastOwners);
  return Object.fromEntries(former.afterReplacements());
}

describe('an interface whose MAC address has changed', () => {
  it('keeps its address under the new one', () => {
    expect(after({ [A]: 1 }, [{ owner: 'vm', mac: B, had: 1, replaces: [A] }])).toEqual({ [B]: 1 });
    expect(after({ [A]: 1, [C]: 2 }, [{ owner: 'vm', mac: B, had: 2, replaces: [A, C] }])).toEqual({ [A]: 1, [B]: 2 });
  });

  it.each<readonly [string, Interface]>([
    ['that never had another', { owner: 'vm', mac: B, had: 1 }],
    ['whose record names no address', { owner: 'vm', mac: B, replaces: [A] }],
    ['whose record names another address', { owner: 'vm', mac: B, had: 2, replaces: [A] }],
  ])('an interface %s does not take one over', (_, one) => {
    expect(after({ [A]: 1 }, [one])).toEqual({ [A]: 1 });
  });

  it('two interfaces swap theirs', () => {
    const interfaces = [
      { owner: 'vm', mac: B, had: 1, has: true as const, replaces: [A] },
      { owner: 'vm', mac: A, had: 2, has: true as const, replaces: [B] },
    ];
    expect(after({ [A]: 1, [B]: 2 }, interfaces)).toEqual({ [B]: 1, [A]: 2 });
  });

  it('three go round, and a chain moves as a whole', () => {
    const round = [
      { owner: 'vm', mac: B, had: 1, replaces: [A] },
      { owner: 'vm', mac: C, had: 2, replaces: [B] },
      { owner: 'vm', mac: A, had: 3, replaces: [C] },
    ];
    const owners = { [A]: ['vm', 1], [B]: ['vm', 2], [C]: ['vm', 3] } as const;
    expect(after({ [A]: 1, [B]: 2, [C]: 3 }, round, owners)).toEqual({ [B]: 1, [C]: 2, [A]: 3 });
    expect(after({ [A]: 1, [B]: 2 }, round.slice(0, 2), owners)).toEqual({ [B]: 1, [C]: 2 });
  });

  it('if the new MAC address already has an address that stays, neither the interface nor those behind it move', () => {
    const interfaces = [
      { owner: 'vm', mac: B, had: 1, replaces: [A] },
      { owner: 'vm', mac: C, had: 2, replaces: [B] },
    ];
    const owners = { [A]: ['vm', 1], [B]: ['vm', 2], [C]: ['other', 3] } as const;
    expect(after({ [A]: 1, [B]: 2, [C]: 3 }, interfaces, owners)).toEqual({ [A]: 1, [B]: 2, [C]: 3 });
  });

  it('if two replace one MAC address, the first gets the address', () => {
    const interfaces = [
      { owner: 'vm', mac: B, had: 1, replaces: [A] },
      { owner: 'vm', mac: C, had: 1, replaces: [A] },
    ];
    expect(after({ [A]: 1 }, interfaces)).toEqual({ [B]: 1 });
  });

  it('if there are two addresses for one MAC address, the first is taken over', () => {
    const interfaces = [
      { owner: 'vm', mac: D, had: 1, replaces: [A] },
      { owner: 'vm', mac: D, had: 2, replaces: [B] },
    ];
    expect(after({ [A]: 1, [B]: 2 }, interfaces)).toEqual({ [D]: 1, [B]: 2 });
  });
});

describe('the owner of an address', () => {
  const replacing: Interface = { owner: 'vm', mac: B, had: 1, replaces: [A] };
  const still = (more: Partial<Interface> = {}): Interface => ({ owner: 'copy', mac: A, ...more });

  it('the last plan decides, if it is about the recorded address', () => {
    expect(after({ [A]: 1 }, [replacing, still()], { [A]: ['vm', 1] })).toEqual({ [B]: 1 });
    expect(after({ [A]: 1 }, [replacing, still()], { [A]: ['copy', 1] })).toEqual({ [A]: 1 });
    expect(after({ [A]: 1 }, [{ ...replacing, has: true }, still()], { [A]: ['copy', 7] }), 'of another address').toEqual({
      [B]: 1,
    });
  });

  it.each<readonly [string, Interface, Interface, boolean]>([
    ['has it now by its record, and the other one has no record', { ...replacing, has: true }, still(), true],
    ['had it once, and another one claims the former MAC address', replacing, still(), false],
    ['has it by its record, and so has the other one', { ...replacing, has: true }, still({ had: 1, has: true }), false],
    ['has it by its record, and the other one only had it', { ...replacing, has: true }, still({ had: 1 }), true],
    [
      'has it by its record, and the other one has another address',
      { ...replacing, has: true },
      still({ had: 2, has: true }),
      true,
    ],
  ])('without it: the interface that replaces %s', (_, one, other, isItsOwn) => {
    expect(after({ [A]: 1 }, [one, other])).toEqual(isItsOwn ? { [B]: 1 } : { [A]: 1 });
  });
});

describe('an interface that has the former MAC address of a sibling', () => {
  const owners = { [A]: ['vm', 1], [B]: ['vm', 2] } as const;
  const first: Interface = { owner: 'vm', mac: B, had: 1, replaces: [A] };

  it('follows with its own address, even if its record shows that of the sibling', () => {
    const second: Interface = { owner: 'vm', mac: A, had: 1, replaces: [C, B] };
    expect(after({ [A]: 1, [C]: 2 }, [first, second], { [A]: ['vm', 1], [C]: ['vm', 2] })).toEqual({ [B]: 1, [A]: 2 });
  });

  it.each<readonly [string, Interface, Readonly<Record<string, readonly [string, number]>>]>([
    ['the address of another owner', { owner: 'vm', mac: A, had: 1, replaces: [C] }, { [A]: ['vm', 1], [C]: ['other', 2] }],
    ['an address of unknown owner', { owner: 'vm', mac: A, had: 1, replaces: [C] }, { [A]: ['vm', 1] }],
  ])('never takes %s', (_, second, last) => {
    expect(after({ [A]: 1, [C]: 2 }, [first, second], last)).toEqual({ [B]: 1, [C]: 2 });
  });

  it('never gets the address that another sibling has', () => {
    const interfaces: Interface[] = [first, { owner: 'vm', mac: A, had: 1, replaces: [C] }, { owner: 'vm', mac: C, had: 2 }];
    expect(after({ [A]: 1, [C]: 2 }, interfaces, { [A]: ['vm', 1], [C]: ['vm', 2] })).toEqual({ [B]: 1, [C]: 2 });
  });

  it('takes the newest of several', () => {
    const second: Interface = { owner: 'vm', mac: A, had: 1, replaces: [C, D] };
    const last = { [A]: ['vm', 1], [C]: ['vm', 3], [D]: ['vm', 2] } as const;
    expect(after({ [A]: 1, [C]: 3, [D]: 2 }, [first, second], last)).toEqual({ [B]: 1, [A]: 2, [C]: 3 });
  });

  it('an interface without a former MAC address is left alone', () => {
    expect(after({ [A]: 1, [C]: 2 }, [first, { owner: 'vm', mac: A, had: 1 }], { ...owners, [C]: ['vm', 2] })).toEqual({
      [B]: 1,
      [C]: 2,
    });
  });
});

it('lastOwnerOf: only for the recorded address', () => {
  const lastOwners: LastOwners = new Map<string, { readonly owner: string; readonly address: number }>([
    [A, { owner: 'vm', address: 1 }],
    [B, { owner: 'vm', address: 9 }],
  ]);
  const former = new MacAddressReplacements(
    new Map([
      [A, 1],
      [B, 2],
      [C, 3],
    ]),
    [],
    lastOwners,
  );
  expect([A, B, C, D].map((mac) => former.lastOwnerOf(mac))).toEqual(['vm', undefined, undefined, undefined]);
});
