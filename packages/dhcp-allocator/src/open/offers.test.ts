import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Offer, Offers } from './offers.js';

it('law: offers are those of a list; what is forgotten is the oldest offer of a place with the most', () => {
  const change = fc.record({
    what: fc.constantFrom('add' as const, 'add', 'add', 'remove', 'forget', 'expire'),
    ...{ client: fc.nat(12), address: fc.nat(12), place: fc.nat(3), pause: fc.nat(5) },
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 120, size: 'max' }), (changes) => {
      const offers = new Offers();
      let model: Offer[] = [];
      let nowMs = 0;
      for (const { what, client, address, place, pause } of changes) {
        nowMs += pause;
        const macAddress = String(client);
        if (what === 'add') {
          const offer = { macAddress, address, place: String(place), isShort: false, endsAtMs: nowMs + 20 };
          offers.add(offer);
          model = [...model.filter((each) => each.macAddress !== macAddress && each.address !== address), offer];
        } else if (what === 'remove') {
          expect(offers.remove(macAddress)).toBe(model.find((each) => each.macAddress === macAddress));
          model = model.filter((each) => each.macAddress !== macAddress);
        } else if (what === 'expire') {
          expect(offers.expire(nowMs)).toEqual(model.filter(({ endsAtMs }) => endsAtMs <= nowMs));
          model = model.filter(({ endsAtMs }) => endsAtMs > nowMs);
        } else {
          const ofPlace = (name: string) => model.filter((each) => each.place === name);
          const most = Math.max(0, ...model.map((each) => ofPlace(each.place).length));
          const forgotten = offers.forgetOldest(nowMs);
          const allowed = model.filter((each) => ofPlace(each.place).length === most && ofPlace(each.place)[0] === each);
          if (model.length === 0) expect(forgotten).toBeUndefined();
          else expect(allowed).toContain(forgotten);
          model = model.filter((each) => each !== forgotten);
        }
        expect([...offers.all()]).toEqual(model);
        expect(offers.size).toBe(model.length);
        for (const offer of model) expect([offers.of(offer.macAddress), offers.at(offer.address)]).toEqual([offer, offer]);
      }
    }),
    { numRuns: 200 },
  );
});
