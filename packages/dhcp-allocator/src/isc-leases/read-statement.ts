import type { LeaseTokens, Token } from './lease-tokens.js';

/** One statement: its words up to its end or its block. The content of a block is dropped. */
export interface Statement {
  readonly words: readonly { readonly text: string; readonly isQuoted: boolean }[];
  readonly line: number;
  /** `closed` by `;` or by the end of its block; any other statement is incomplete. */
  readonly ending: 'closed' | 'interrupted' | 'unreadable' | 'cut';
}

/** The statement that begins with this token. @returns one that is `interrupted` if something else begins before its end. */
export function readStatement(first: Token, tokens: LeaseTokens): Statement {
  const { line } = first;
  const words: { text: string; isQuoted: boolean }[] = [];
  for (let token: Token | undefined = first; token !== undefined; token = tokens.next()) {
    switch (token.kind) {
      case 'word':
      case 'text':
        words.push({ text: token.text, isQuoted: token.kind === 'text' });
        break;
      case ';':
        return { words, line, ending: 'closed' };
      case '{':
        return { words, line, ending: skipBlock(tokens) };
      case 'unreadable':
        return { words, line, ending: 'unreadable' };
      case '}':
      case 'entry':
        if (token !== first) tokens.giveBack(token);
        return { words, line, ending: 'interrupted' };
    }
  }
  return { words, line, ending: 'cut' };
}

function skipBlock(tokens: LeaseTokens): Statement['ending'] {
  let depth = 1;
  for (let token = tokens.next(); token !== undefined; token = tokens.next()) {
    if (token.kind === '{') depth++;
    if (token.kind === '}') depth--;
    if (depth === 0) return 'closed';
    if (token.kind === 'unreadable') return 'unreadable';
    if (token.kind === 'entry') {
      tokens.giveBack(token);
      return 'interrupted';
    }
  }
  return 'cut';
}
