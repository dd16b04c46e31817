/**
 * The CEL rules of a range of addresses. CEL cannot convert addresses to numbers, so the rules compute them from the
 * four octets. They use only `split` of a field with a `maxLength`: a real API server estimates the cost of a rule from the longest text, and knows
 * no bound for parts of parts. It estimates about 150 for a bound that moves and 400 for the subnet; one rule may cost 10,000,000.
 */
interface Rule {
  readonly rule: string;
  readonly message: string;
}

/** @param text - the name of a field that holds an IPv4 address, or numbers with dots between them. @param first - which of the numbers is the first octet. */
export function toNumber(text: string, first = 0): string {
  const [a, b, c, d] = [0, 1, 2, 3].map((index) => `int(${text}.split('.')[${first + index}])`);
  return `(((${a} * 256 + ${b}) * 256 + ${c}) * 256 + ${d})`;
}

/** True if both addresses are there; another rule refuses an IPv4 configuration without them. */
export const ADDRESSES_ARE_THERE = 'has(self.serverIP) && has(self.pool) && has(self.pool.start) && has(self.pool.end)';

/**
 * The fields of an IPv4 configuration that the admission webhook fills in. They are rules instead of `required`, so that the message names the
 * remedy, and so that clients which validate a manifest accept fields that the webhook fills in later.
 */
export function areThere(): Rule[] {
  const remedy = 'write it, or install the admission webhook, which fills it in';
  return [
    { rule: 'has(self.serverIP)', message: `ServerIP is missing: ${remedy}` },
    {
      rule: 'has(self.pool) && has(self.pool.start) && has(self.pool.end)',
      message: `Start or End of the pool is missing: ${remedy}`,
    },
  ];
}

/** Addresses of a subnet by the length of its prefix, 0 to 32. */
export const SUBNET_SIZES = `[${Array.from({ length: 33 }, (_, length) => 2 ** (32 - length)).join(', ')}]`;
/** The same limit as in the allocator. */
const MOST_ADDRESSES = 2 ** 24;

/**
 * A range that changes must stay inside the CIDR, without its first and last address, which no client can have, and within the maximum size of a pool.
 * Otherwise the whole pool would be invalid.
 */
export function staysInsideCidr(): Rule[] {
  const isSame = `!(${ADDRESSES_ARE_THERE}) || self.pool.start == oldSelf.pool.start && self.pool.end == oldSelf.pool.end`;
  const [start, end] = [toNumber('self.pool.start'), toNumber('self.pool.end')];
  // A pool whose server is outside its CIDR is invalid, so the server can stand for any address of the CIDR, and is cheaper to read.
  const subnet = `${toNumber('self.serverIP')} / size`;
  // In a /31 and a /32 every address is a host's.
  const margin = '(size <= 2 ? 0 : 1)';
  const isInside = `(${start} - ${margin}) / size == ${subnet} && (${end} + ${margin}) / size == ${subnet}`;
  return [
    {
      rule: `${isSame} || [${SUBNET_SIZES}[int(self.cidr.split('/')[1])]].all(size, ${isInside})`,
      message: 'Start and End must stay inside the CIDR, without its first and last address',
    },
    { rule: `${isSame} || ${start} <= ${end}`, message: 'The range ends before its start: swap start and end' },
    {
      rule: `${isSame} || ${end} - ${start} < ${MOST_ADDRESSES}`,
      message: `Start to End must not hold more than ${MOST_ADDRESSES} addresses`,
    },
  ];
}
