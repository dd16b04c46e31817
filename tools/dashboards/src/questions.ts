/** The questions of docs/operations.md: that page is where they are written, and tests ask each of them. */
import type { QueryToTry } from './queries-to-try.js';

export interface Question {
  /** From 1 on. */
  readonly number: number;
  readonly title: string;
  /** As a person types it: one or more lines of a shell. */
  readonly command: string;
  /** PromQL; undefined: no metric answers it, and `withoutQuery` has the reason. */
  readonly query: string | undefined;
  /** Why no metric answers it; undefined: there is a query. */
  readonly withoutQuery: string | undefined;
  /** What the command printed in the test that wrote it. */
  readonly output: string;
  /** What stands below it: what to do next. */
  readonly next: string;
}

const HEADING = /^### (\d+)\. (.+)$/;
const WITHOUT_QUERY = /^No query: (.+)$/m;
const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** In their order. @throws Error for a question that lacks its command, its output or what to do next, and for one without either a query or the reason why there is none. */
export function questionsIn(page: string): readonly Question[] {
  return page
    .split(/^(?=##+ )/m)
    .filter((section) => HEADING.test(section.split('\n', 1)[0] ?? ''))
    .map(toQuestion);
}

function toQuestion(section: string): Question {
  const [heading = ''] = section.split('\n', 1);
  const [, number = '', title = ''] = HEADING.exec(heading) ?? [];
  const blocks = new Map([...section.matchAll(FENCE)].map(([, kind = '', text = '']) => [kind, text.replace(/\n$/, '')]));
  const [command, query, output] = [blocks.get('sh'), blocks.get('promql'), blocks.get('')];
  const next = section.slice(section.lastIndexOf('\n```\n') + 5).trim();
  if (command === undefined || output === undefined || next === '')
    throw new Error(`question ${number} needs a block of sh, a block with the output, and what to do next below it`);
  const withoutQuery = WITHOUT_QUERY.exec(section.replaceAll(FENCE, ''))?.[1];
  if ((query === undefined) === (withoutQuery === undefined))
    throw new Error(`question ${number} needs either a block of promql, or a line "No query:" with the reason`);
  return { number: Number(number), title, command, query, withoutQuery, output, next };
}

/** The page with other outputs. @param outputs - by the number of the question. */
export function withOutputs(page: string, outputs: ReadonlyMap<number, string>): string {
  return page.replaceAll(/^### (\d+)\. [\s\S]*?(?=^##+ |(?![\s\S]))/gm, (section, number: string) => {
    const output = outputs.get(Number(number));
    // Each block is matched from its beginning, so the end of one cannot be the beginning of another.
    return output === undefined
      ? section
      : section.replaceAll(FENCE, (block, kind: string) => (kind === '' ? `\`\`\`\n${output}\n\`\`\`` : block));
  });
}

/** Their queries, as Prometheus takes them. */
export function queriesOf(questions: readonly Question[]): readonly QueryToTry[] {
  return questions.flatMap(({ number, query }) =>
    query === undefined ? [] : [{ title: `question ${number} of docs/operations.md`, expression: query }],
  );
}
