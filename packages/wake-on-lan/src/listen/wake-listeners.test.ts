import { describe, expect, it } from 'vitest';
import { link } from './links-fixtures.js';
import type { ListenableLink } from './listenable-link.js';
import { describePlace, type ListeningEvent, type ListeningPlace } from './listening-ports.js';
import { WakeListeners } from './wake-listeners.js';

/** A host whose sockets are names in a set. */
class FakeHost {
  links: ListenableLink[] = [link('eth0', { index: 1 }), link('eth1', { index: 2 })];
  whyNotListed: Error | undefined;
  /** Places that another program uses. */
  readonly taken = new Map<string, string>();
  readonly open = new Map<string, { fail: (error: Error) => void }>();
  readonly events: string[] = [];
  attempts = 0;
  readonly listeners: WakeListeners;

  constructor(patterns: readonly string[] = []) {
    this.listeners = new WakeListeners(
      { patterns, udpPorts: [7, 9], frames: true },
      {
        listLinks: () => {
          if (this.whyNotListed !== undefined) throw this.whyNotListed;
          return this.links;
        },
        open: (place, _, onError) => this.#open(place, onError),
        observe: (event) => this.events.push(textOf(event)),
      },
      () => undefined,
    );
  }

  async #open(place: ListeningPlace, onError: (error: Error) => void) {
    this.attempts++;
    const key = describePlace(place);
    const why = this.taken.get(key);
    if (why !== undefined) throw new Error(why);
    expect(this.open.has(key), `${key} is open already`).toBe(false);
    this.open.set(key, { fail: onError });
    const interfaceIndex = this.links.find(({ interfaceName }) => interfaceName === place.interfaceName)?.interfaceIndex ?? 0;
    return { interfaceIndex, close: () => void this.open.delete(key) };
  }
}

function textOf(event: ListeningEvent): string {
  if ('place' in event) return `${event.kind}: ${describePlace(event.place)}`;
  return 'interfaceName' in event ? `${event.kind}: ${event.interfaceName}` : event.kind;
}

const ALL = ['eth0', 'eth1'].flatMap((name) => [`${name} UDP port 7`, `${name} UDP port 9`, `${name} EtherType 0x0842`]);

describe('WakeListeners', () => {
  it('listens on every UDP port and for frames on every interface; a second check opens nothing', async () => {
    const host = new FakeHost();
    expect(host.listeners.dead).toEqual([
      'no interface has a network outside this host; name one with --interface, or with spec.agent.interfaces of the WolConfig',
    ]);
    await host.listeners.check(0);
    await host.listeners.check(1_000);
    expect([...host.open.keys()]).toEqual(ALL);
    expect(host.attempts).toBe(6);
    expect(host.listeners.dead).toEqual([]);
    host.listeners.stop();
    expect(host.open.size).toBe(0);
  });

  it('a port in use is reported once, the others work, and it is opened when it is free', async () => {
    const host = new FakeHost();
    host.taken.set('eth0 UDP port 9', 'EADDRINUSE');
    for (const nowMs of [0, 1_000, 5_000, 6_000]) await host.listeners.check(nowMs);
    expect(host.listeners.dead).toEqual(['eth0 UDP port 9: EADDRINUSE']);
    expect(host.listeners.listening).toHaveLength(5);
    expect(host.attempts).toBe(7);
    expect(host.events.filter((event) => event === 'listener-failed: eth0 UDP port 9')).toHaveLength(1);
    host.taken.clear();
    await host.listeners.check(10_000);
    expect(host.listeners.dead).toEqual([]);
  });

  it('an interface that disappears is reported, the others continue, and it is used again when it is back', async () => {
    const host = new FakeHost(['eth0', 'eth1']);
    await host.listeners.check(0);
    host.links = [link('eth1', { index: 2 })];
    await host.listeners.check(1_000);
    expect([...host.open.keys()]).toEqual(ALL.slice(3));
    expect(host.listeners.dead).toEqual([
      'eth0: no such interface, or it is down or not an Ethernet interface; correct --interface, or set it up',
    ]);
    expect(host.events.slice(-2)).toEqual(['interface-missing: eth0', 'interface-lost: eth0']);
    host.links = [link('eth0', { index: 7 }), link('eth1', { index: 2 })];
    await host.listeners.check(2_000);
    expect(host.open.size).toBe(6);
    expect(host.listeners.dead).toEqual([]);
  });

  it('patterns that choose no interface are reported; a name without an interface is reported alone', async () => {
    const [patterns, name] = [new FakeHost(['mgmt-*', '!*.100']), new FakeHost(['eth9'])];
    for (const host of [patterns, name]) await host.listeners.check(0);
    expect(patterns.listeners.dead).toEqual([
      'no interface matches mgmt-* !*.100; name one with --interface, or with spec.agent.interfaces of the WolConfig',
    ]);
    expect(name.listeners.dead).toEqual([
      'eth9: no such interface, or it is down or not an Ethernet interface; correct --interface, or set it up',
    ]);
  });

  it('an interface that was replaced by another one of the same name gets new sockets', async () => {
    const host = new FakeHost();
    await host.listeners.check(0);
    host.links = [link('eth0', { index: 8 }), link('eth1', { index: 2 })];
    await host.listeners.check(1_000);
    expect(host.attempts).toBe(9);
    expect(host.open.size).toBe(6);
    expect(host.events).toContain('interface-lost: eth0');
  });

  it('a socket that fails later is reported, closed and opened again', async () => {
    const host = new FakeHost();
    await host.listeners.check(0);
    host.open.get('eth0 UDP port 7')?.fail(new Error('ENETDOWN'));
    expect(host.listeners.dead).toEqual(['eth0 UDP port 7: ENETDOWN']);
    await host.listeners.check(5_000);
    expect(host.listeners.dead).toEqual([]);
    expect(host.open.size).toBe(6);
  });

  it('if the kernel does not list the interfaces, that is reported once and existing listeners continue', async () => {
    const host = new FakeHost();
    await host.listeners.check(0);
    host.whyNotListed = new Error('ENOBUFS');
    await host.listeners.check(1_000);
    await host.listeners.check(2_000);
    expect(host.listeners.dead).toEqual(['interfaces: ENOBUFS']);
    expect(host.open.size).toBe(6);
    expect(host.events.filter((event) => event === 'interfaces-not-listed')).toHaveLength(1);
  });

  it('a listener that opens during the stop is closed', async () => {
    const host = new FakeHost();
    const checked = host.listeners.check(0);
    host.listeners.stop();
    await checked;
    expect(host.open.size).toBe(0);
  });
});
