import { type Ipv4Range, intersectRanges } from '@vmdhcp/dhcp-allocator';

/**
 * The addresses that both lists contain, sorted. Reads each range of both a bounded number of times: a tenant decides how many there are.
 *
 * @param ones, others - sorted, as `mergeRanges` returns them.
 */
export function sharedRanges(ones: readonly Ipv4Range[], others: readonly Ipv4Range[]): Ipv4Range[] {
  const shared: Ipv4Range[] = [];
  let [index, othersIndex] = [0, 0];
  for (;;) {
    const [one, other] = [ones[index], others[othersIndex]];
    if (one === undefined || other === undefined) return shared;
    const both = intersectRanges(one, other);
    if (both !== undefined) shared.push(both);
    // The range that ends first overlaps with no later one of the other list.
    if (one.last < other.last) index++;
    else othersIndex++;
  }
}
