// Sentences that make a reader stop, as patterns with what to write instead. Comments, messages, test titles and docs are searched.
// Each rule is tried on its examples by check-words.mjs: `found` must be found, `allowed` must not.

/** The beginning of a comment, also of a paragraph or a tag in it. */
const COMMENT = String.raw`(?:\/\*\*? ?|(?<![:\w])\/\/ ?|^\s*\* ?|@returns |@param [\w.]+ - )`;
/** "Of two replicas, only one leads." has a subject after the comma. */
const SUBJECT_FOLLOWS = String.raw`[^.,:;]*, (?:only|one|two|none|neither|each|all|most|some|half|the (?:first|last|other)\w*)\b`;
/** "is no longer", "is no more than": "no" belongs to the adverb. */
const ADVERBS = 'longer|more|less|fewer|better|worse|larger|smaller|later|earlier|older|newer|higher|lower|shorter|such|one';

/** @type {{rule: string, instead: string, pattern: RegExp, found: string[], allowed: string[]}[]} */
export const PLAIN_ENGLISH = [
  {
    rule: 'a comment that begins with "Of"',
    instead: 'say who does what: "Keeps the answers that concern this client."',
    pattern: new RegExp(`(?:${COMMENT}|[.:] )Of (?!course\\b)(?!${SUBJECT_FOLLOWS})[\\w\`]+`, 'g'),
    found: [
      '/** Of the answers those about the client. */',
      '// Of an agent that assigns addresses: count them.',
      '/**\n * Of each host, its address.\n */',
      '/** The age. Of the oldest entry. */',
      ' * @param age - Of the lease.',
    ],
    allowed: [
      '/** Of two replicas, only one leads. */',
      '// Of course.',
      '/** The age of the oldest entry. */',
      "const note = 'Of Mice and Men';",
      '/** Often it waits. */',
    ],
  },
  {
    rule: '"is no" for "is not a"',
    instead: '"is not a …", or say what is right: "port must be 1 to 65535"',
    pattern: new RegExp(`(?<!\\bthere )\\b(?:is|are|was|were) no (?!(?:${ADVERBS})\\b)[a-z]+`, 'gi'),
    found: ['70000 is no TCP port', 'echoes that are no news', 'the object was no record'],
    allowed: [
      'there is no lease',
      'There are no pools',
      'the pool is no longer full',
      'it is no more than a hint',
      'is there no route?',
      'is not a TCP port',
    ],
  },
  {
    rule: 'a comment that begins with a pronoun for a noun',
    instead: 'name the thing: "The time-out of the settings in force."',
    pattern: new RegExp(
      `${COMMENT}(?:(?:That|Those) of|(?:That|Those|One|Ones) (?:that|which|who|whose)|As that of) [\\w\`]+`,
      'g',
    ),
    found: ['/** That of the settings in force. */', '// Those that were under way.', '/** One that an agent left behind. */'],
    allowed: ['/** That is all. */', '/** One of them failed. */', '/** The settings, and those of the pool. */'],
  },
  {
    rule: 'a test title that begins with "of"',
    instead: 'a sentence that stands alone in a log: "metrics count addresses that the agent assigns"',
    pattern: /(?:\b(?:it|test)(?:\.\w+)*\((?:.*\)\()?|\]\)\()\s*['"`](?:of|(?:that|those|one|as) of) \S+/g,
    found: [
      "it('of an agent that assigns addresses count them', ",
      'it.each([1, 2])("of %j there are none", ',
      "test('those of others stay', ",
    ],
    allowed: ["it('counts addresses of the agent', ", "describe('offers of an agent', "],
  },
];

/**
 * The places in a text that a rule of plain English forbids; a phrase may go on in the next line of a comment.
 * @returns line (from 1), the text found, and the rule
 */
export function findStrangeEnglish(text) {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const next = (lines[index + 1] ?? '').replace(/^\s*(\/\/|\*(?!\/)|#|>)?\s*/, '');
    return PLAIN_ENGLISH.flatMap(({ rule, instead, pattern }) =>
      [...`${line} ${next}`.matchAll(pattern)]
        .filter((match) => match.index < line.length)
        .map(([found]) => ({ line: index + 1, found: found.trim(), rule, instead })),
    );
  });
}
