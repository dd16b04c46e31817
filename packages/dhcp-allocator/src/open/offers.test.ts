import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Offer, Offers } from './offers.js';

const UP_TO_12 = Array.from({ length: 13 }, (_, index) => index);
/** Each client with each address. One assertion about all of them is a hundred times cheaper than one about each. */
const PAIRS = UP_TO_12.flatMap((client) => UP_TO_12.map((address) => [String(client), address] as const));

it('law: behaves like a list of offers; the oldest offer of the place with the most offers is shared', () => {
  const change = fc.record({
    what: fc.constantFrom('add' as const, 'add', 'add', 'remove', 'share', 'expire'),
    ...{ client: fc.nat(12), address: fc.nat(12), place: fc.nat(3), pause: fc.nat(5) },
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 120, size: 'max' }), (changes) => {
      const offers = new Offers();
      let model: Offer[] = [];
      let shared: Offer[] = [];
      let nowMs = 0;
      for (const { what, client, address, place, pause } of changes) {
        nowMs += pause;
        const macAddress = String(client);
        if (what === 'add') {
          const offer = { macAddress, address, place: String(place), isShort: false, endsAtMs: nowMs + 20 };
          offers.add(offer);
          model = [...model.filter((each) => each.macAddress !== macAddress && each.address !== address), offer];
          shared = shared.filter((each) => each.macAddress !== macAddress);
        } else if (what === 'remove') {
          expect(offers.remove(macAddress)).toBe(model.find((each) => each.macAddress === macAddress));
          model = model.filter((each) => each.macAddress !== macAddress);
          shared = shared.filter((each) => each.macAddress !== macAddress);
        } else if (what === 'expire') {
          expect(offers.expire(nowMs)).toEqual(model.filter(({ endsAtMs }) => endsAtMs <= nowMs));
          model = model.filter(({ endsAtMs }) => endsAtMs > nowMs);
        } else {
          const ofPlace = (name: string) => model.filter((each) => each.place === name);
          const most = Math.max(0, ...model.map((each) => ofPlace(each.place).length));
          const oldest = offers.shareOldest();
          const allowed = model.filter((each) => ofPlace(each.place).length === most && ofPlace(each.place)[0] === each);
          if (model.length === 0) expect(oldest).toBeUndefined();
          else expect(allowed).toContain(oldest);
          model = model.filter((each) => each !== oldest);
          if (oldest !== undefined) shared.push(oldest);
        }
        expect([...offers.all()]).toEqual(model);
        expect(offers.size).toBe(model.length);
        const offered = new Set(
          [...model, ...shared].filter(({ endsAtMs }) => endsAtMs > nowMs).map((each) => `${each.macAddress} ${each.address}`),
        );
        const wasOffered = ([to, at]: readonly [string, number]) => offers.wasOffered(to, at, nowMs);
        expect(PAIRS.filter((pair) => wasOffered(pair) !== offered.has(pair.join(' ')))).toEqual([]);
        for (const offer of model) expect([offers.of(offer.macAddress), offers.at(offer.address)]).toEqual([offer, offer]);
      }
    }),
    { numRuns: 200 },
  );
});
