// The retired words of docs/glossary.md as patterns: terms that have a better one, never an ordinary verb. A line is searched after
// `plain`: in lower case, with the words of identifiers apart.
// Each rule is tried on its examples by check-words.mjs: `found` must be found, `allowed` must not.

/** @type {{word: string, pattern: RegExp, found: string[], allowed: string[]}[]} */
export const RETIRED_WORDS = [
  { word: 'withheld', pattern: /\bwithh[eo]ld(s|ing)?\b/g, found: ['withheldPools'], allowed: ['suspendedPools'] },
  {
    word: 'suspended address',
    pattern: /\bsuspended( |-)address(es)?\b|\baddress(es)? (is|are|was|were) suspended\b/g,
    found: ['suspendedAddress', 'the address is suspended'],
    allowed: ['the server address of a suspended pool'],
  },
  { word: 'releasing pool', pattern: /\breleasing( |-)pools?\b/g, found: ['releasingPools'], allowed: ['releasing the Lease'] },
  {
    word: 'the lead, who leads',
    pattern:
      /\b(the|a|its|this|that) lead\b(?!-| to\b)|\bagent( |-)lead\b|\bwho(ever)? (does not lead|leads)\b|\bcomes? to lead\b|\blead is (over|lost)\b/g,
    found: ['loses the lead', 'AgentLead', 'agent-lead.ts', 'who does not lead', 'comes to lead'],
    allowed: ['the leader', 'two networks that lead to one segment'],
  },
  {
    word: 'foreign server',
    pattern: /\bforeign( |-)(dhcp )?servers?\b/g,
    found: ['foreignServers'],
    allowed: ['foreign fields'],
  },
  {
    word: 'work (on a kind)',
    pattern:
      /\bwork( |-)(result|kind)s?\b|\b(pool|agents?|machine|instance|network|config|object|kind)( |-)work\b(?! queue)|\bworks? on (a|the|that|each|every|one) (kind|pool|virtual machine|network|object)\b/g,
    found: ['WorkResult', 'pool-work.ts', 'the work on a pool', 'networkConfigWork'],
    allowed: ['the work queue', 'it does not work', 'the network works'],
  },
  { word: 'machinery', pattern: /\bmachinery\b/g, found: ['machinery/reflector.ts'], allowed: ['machine'] },
  {
    word: 'port (for UDP)',
    pattern: /\bpool( |-)ports?\b|(?<!udp )\bports? 6[78]\b/g,
    found: ['PoolPorts', 'opens port 67'],
    allowed: ['UDP port 67', 'the ports of the core'],
  },
  {
    word: 'to ask the network, an inquiry',
    pattern: /\bask(s|ed|ing)? the network\b|\bnetwork is asked\b|\binquir(y|ies)\b/g,
    found: ['asks the network', 'AddressInquiry'],
    allowed: ['probes the address'],
  },
  {
    word: 'a host of its own',
    pattern: /\bhosts? of (its|their|your) own\b/g,
    found: ['on a host of its own'],
    allowed: ['a bare host', 'a namespace of its own'],
  },
  { word: 'stranger', pattern: /\bstrangers?\b/g, found: ['a stranger gets no reply'], allowed: ['an unknown client'] },
];

/** One line as words: `stalePools` and `STALE_POOLS` are "stale pools". */
const plain = (line) =>
  line
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();

/**
 * The retired words in a text; a phrase may go on in the next line, also in a comment.
 * @returns line (from 1), the text found, and the retired word of the glossary
 */
export function findRetiredWords(text) {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const begun = plain(line);
    const rest = plain((lines[index + 1] ?? '').replace(/^\s*(\/\/|\*|#|>)?\s*/, ''));
    return RETIRED_WORDS.flatMap(({ word, pattern }) =>
      [...`${begun} ${rest}`.matchAll(pattern)]
        .filter((match) => match.index < begun.length)
        .map(([found]) => ({ line: index + 1, found, word })),
    );
  });
}
