import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Offer, Offers } from './offers.js';

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
        for (let client = 0; client <= 12; client++) {
          for (let address = 0; address <= 12; address++) {
            const isOffer = (each: Offer) =>
              each.macAddress === String(client) && each.address === address && each.endsAtMs > nowMs;
            expect(offers.wasOffered(String(client), address, nowMs)).toBe([...model, ...shared].some(isOffer));
          }
        }
        for (const offer of model) expect([offers.of(offer.macAddress), offers.at(offer.address)]).toEqual([offer, offer]);
      }
    }),
    { numRuns: 200 },
  );
});
