/**
 * A server, clients, and everything that can happen to them. The model of a client is what it believes: it uses its address from the ACK until its
 * lease ends, or until it requests another one. A client is a MAC address: it sends any client identifier, also those of others, on the link or
 * through a relay. No host answers probes.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { formatIpv4Address } from '../address/ipv4-address.js';
import type { BindingRecord } from '../binding/binding.js';
import type { Answer, ReplyAnswer } from '../server/answer-packet.js';
import { OptionCode } from '../wire/layout.js';
import type { RecordAnswer } from './answer-open-packet.js';
import { clientPacket, decoded, type Fields, ip, mac, OpenServer, outcomeOf, SERVER } from './open-pool-fixtures.js';

const CLIENTS = 6;
const clientOfMac = (macAddress: string): number => Number.parseInt(macAddress.replaceAll(':', ''), 16) - 0x020000000000;

export type Step =
  | ({ readonly kind: 'discover'; readonly client: number; readonly wish: number } & Manner)
  | ({
      readonly kind: 'select' | 'reboot' | 'renew' | 'release' | 'decline';
      readonly client: number;
      readonly address: number;
    } & Manner)
  | { readonly kind: 'settle'; readonly outcome: 'recorded' | 'lost' | 'unsure' }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'declare'; readonly address: number; readonly client: number }
  | { readonly kind: 'undeclare' }
  /** Another machine sends a RELEASE, or requests an address, in the name of this client. */
  | ({ readonly kind: 'forge-release' | 'forge-request'; readonly client: number; readonly address: number } & Manner)
  | { readonly kind: 'crash' };

/** How a message is sent. */
interface Manner {
  /** 0 for no client identifier. */
  readonly identifier: number;
  readonly isRelayed: boolean;
}

const client = fc.nat(CLIENTS - 1);
const manner = { identifier: fc.nat(2), isRelayed: fc.boolean() };
/** 0 for the address that the client believes it has, or was offered; otherwise an address of the pool. */
const address = fc.oneof(fc.constant(0), fc.integer({ min: 10, max: 16 }));
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('discover' as const), client, wish: address, ...manner }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('select' as const, 'select' as const, 'reboot', 'renew', 'release', 'decline'),
      client,
      address,
      ...manner,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      outcome: fc.constantFrom('recorded' as const, 'recorded' as const, 'lost', 'unsure'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.constantFrom(1, 31, 200, 700) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('declare' as const), address, client }) },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'crash' as const }, { kind: 'undeclare' as const }) },
);

/** Includes messages that other machines make up. */
export const stepOrForgery: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: step },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('forge-release' as const, 'forge-request'), client, address, ...manner }),
  },
);

function fieldsOf({ identifier, isRelayed }: Manner): Fields {
  return {
    ...(identifier !== 0 && { identifier: [255, 0, 0, 0, identifier] }),
    ...(isRelayed && { giaddr: '10.0.0.254' }),
  };
}

interface Belief {
  readonly address: string;
  readonly endsAtMs: number;
}

/** A record in progress, because of a message of this client. */
interface InFlight {
  readonly client: number;
  readonly answer: Pick<RecordAnswer, 'record' | 'reply'>;
  readonly requestedAtMs: number;
}

/** A server whose store settles on request, and clients that remember their replies. */
export class World {
  readonly server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.15'], leaseTimeSeconds: 600 });
  readonly offered = new Map<number, string>();
  readonly believed = new Map<number, Belief>();
  #inFlight: InFlight[] = [];
  /** The declared addresses, with their MAC addresses. */
  readonly #declared = new Map<number, string>();
  readonly #servedDeclarations = new Set<string>();

  run(step: Step): void {
    const { server } = this;
    if (step.kind === 'pass') server.pass(step.seconds);
    else if (step.kind === 'settle') this.#settle(step.outcome);
    else if (step.kind === 'crash') this.#crash();
    else if (step.kind === 'declare') this.#declare(step.address, step.client);
    else if (step.kind === 'undeclare') this.#undeclare();
    else if (step.kind === 'forge-release' || step.kind === 'forge-request') this.#forge(step);
    else this.#send(step);
  }

  #send(step: Extract<Step, Manner>): void {
    const { client } = step;
    const fields = fieldsOf(step);
    if (step.kind === 'discover') {
      this.believed.delete(client);
      this.#receive(client, 'discover', step.wish === 0 ? fields : { ...fields, requested: `10.0.0.${step.wish}` });
      return;
    }
    const address = this.#addressOf(client, step.address);
    if (step.kind === 'select') {
      // A client that selects an offer has no address any more.
      this.believed.delete(client);
      this.#receive(client, 'request', { ...fields, server: SERVER, requested: address });
    } else if (step.kind === 'reboot') this.#receive(client, 'request', { ...fields, requested: address });
    else if (step.kind === 'renew') this.#receive(client, 'request', { ...fields, ciaddr: address });
    else if (step.kind === 'release') {
      this.believed.delete(client);
      this.#receive(client, 'release', { ...fields, server: SERVER, ciaddr: address });
    } else this.#decline(client, address, fields);
  }

  /** The client hears no reply to it. */
  #forge(step: Extract<Step, { kind: 'forge-release' | 'forge-request' }>): void {
    const address = this.#addressOf(step.client, step.address);
    const fields = { ...fieldsOf(step), ...(step.kind === 'forge-release' ? { server: SERVER } : {}), ciaddr: address };
    const answer = this.server.receive(
      clientPacket(step.kind === 'forge-release' ? 'release' : 'request', mac(step.client), fields),
    );
    if (answer.kind === 'record') this.#record(step.client, answer.record);
  }

  #decline(client: number, address: string, fields: Fields): void {
    const answer = this.#receive(client, 'decline', { ...fields, server: SERVER, requested: address });
    if (answer.kind !== 'noted') return;
    this.believed.delete(client);
    const { server } = this;
    const record = server.open.beginQuarantine(ip(address), server.nowMs + 300_000, server.nowMs);
    this.#record(client, record);
  }

  #record(client: number, record: BindingRecord | undefined): void {
    if (record !== undefined) this.#inFlight.push({ client, requestedAtMs: this.server.nowMs, answer: { record } });
  }

  #addressOf(client: number, wanted: number): string {
    if (wanted !== 0) return `10.0.0.${wanted}`;
    return this.believed.get(client)?.address ?? this.offered.get(client) ?? '10.0.0.10';
  }

  #receive(client: number, type: 'discover' | 'request' | 'release' | 'decline', fields: Fields): Answer | RecordAnswer {
    const { server } = this;
    const answer = server.receive(clientPacket(type, mac(client), fields));
    if (answer.kind === 'record') this.#inFlight.push({ client, answer, requestedAtMs: server.nowMs });
    if (answer.kind === 'reply') this.#deliver(client, answer, server.nowMs);
    return answer;
  }

  #deliver(client: number, reply: ReplyAnswer, requestedAtMs: number): void {
    const outcome = outcomeOf(reply);
    const leaseSeconds = decoded(reply.bytes).options.uint32(OptionCode.leaseTime) ?? 0;
    const [type, address] = outcome.split(' ') as [string, string];
    if (type === 'offer') this.offered.set(client, address);
    if (type === 'nak') this.believed.delete(client);
    if (type === 'ack') this.believed.set(client, { address, endsAtMs: requestedAtMs + leaseSeconds * 1000 });
  }

  /** The oldest record survives and is reported; or does not survive; or survives without the store knowing. */
  #settle(outcome: 'recorded' | 'lost' | 'unsure'): void {
    const next = this.#inFlight.shift();
    if (next === undefined) return;
    const { server } = this;
    const { record, reply } = next.answer;
    if (outcome !== 'lost') server.stored.push(record);
    if (outcome === 'recorded') server.open.recorded(record, server.nowMs);
    else server.open.notRecorded(record, server.nowMs);
    if (outcome === 'recorded' && reply !== undefined) this.#acknowledge(next, reply);
  }

  #acknowledge({ client, answer, requestedAtMs }: InFlight, reply: ReplyAnswer): void {
    expect(this.server.stored).toContain(answer.record);
    // A client ignores the ACK to a message before its last one.
    if (this.#inFlight.some((later) => later.client === client)) return;
    this.#deliver(client, reply, requestedAtMs);
  }

  /** The first few of the records in progress survive. */
  #crash(): void {
    const { server } = this;
    const surviving = this.#inFlight.slice(0, Math.floor(this.#inFlight.length / 2));
    server.stored.push(...surviving.map(({ answer }) => answer.record));
    this.#inFlight = [];
    server.crash();
    this.#serveDeclared();
  }

  /** An address that is declared is served when it no longer waits, and stays declared. */
  #declare(address: number, client: number): void {
    if (address === 0 || this.#declared.size >= 2) return;
    const key = ip(`10.0.0.${address}`);
    if ([...this.#declared.values()].includes(mac(client + 100)) || this.#declared.has(key)) return;
    this.#declared.set(key, mac(client + 100));
    // The client that has the address already uses it from now on because it is declared.
    if (this.believed.get(client + 100)?.address === formatIpv4Address(key)) this.believed.delete(client + 100);
    this.#serveDeclared();
  }

  /** The client of the first declared address that is served becomes an unknown client, which has the address for ten minutes more. */
  #undeclare(): void {
    const { server } = this;
    const address = [...this.#declared.keys()].find((each) => this.servedDeclarations().has(formatIpv4Address(each)));
    const macAddress = address === undefined ? undefined : this.#declared.get(address);
    if (address === undefined || macAddress === undefined) return;
    const endsAtMs = server.nowMs + 600_000;
    const record = server.open.adoptionOf({ macAddress, address, endsAtMs }, server.nowMs);
    if (record === undefined) return;
    // Records from before are settled first.
    while (this.#inFlight.length > 0) this.#settle('recorded');
    server.stored.push(record);
    server.open.recorded(record, server.nowMs);
    this.#declared.delete(address);
    this.#servedDeclarations.delete(formatIpv4Address(address));
    this.believed.set(clientOfMac(macAddress), { address: formatIpv4Address(address), endsAtMs });
    this.#serveDeclared();
  }

  #serveDeclared(): void {
    const { open, nowMs } = this.server;
    open.declare(
      [...this.#declared].map(([address, macAddress]) => ({ address, macAddress })),
      nowMs,
    );
  }

  /** The addresses that declared clients use, from the moment when they may. */
  servedDeclarations(): ReadonlySet<string> {
    const { open, nowMs } = this.server;
    const waiting = new Set(open.waitingDeclarations(nowMs).map(({ declared }) => declared.address));
    // It is probed before it is served.
    const used = new Set(this.used());
    for (const address of [...this.#declared.keys()].filter((each) => !waiting.has(each)).map(formatIpv4Address))
      if (!used.has(address)) this.#servedDeclarations.add(address);
    return this.#servedDeclarations;
  }

  /** The addresses that clients use now. */
  used(): string[] {
    const { nowMs } = this.server;
    return [...this.believed.values()].filter(({ endsAtMs }) => endsAtMs > nowMs).map((belief) => belief.address);
  }
}
