interface Explanation {
  readonly message: string;
  readonly remedy: string;
}

const explained = (message: string, remedy: string): Explanation => ({ message, remedy });

/** Explains each error code of the parser to a reader who has never read the YAML specification. */
const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  BAD_ALIAS: explained('an alias (*name) names no anchor', 'write the value, or quote a text that begins with *'),
  BAD_DIRECTIVE: explained('a line that begins with % is not a directive', 'remove it, or quote the text'),
  BAD_DQ_ESCAPE: explained('a backslash in double quotes has no meaning here', 'write two backslashes, or use single quotes'),
  BAD_INDENT: explained('the indentation fits no line above', 'indent the fields of one group by the same number of spaces'),
  BAD_SCALAR_START: explained('a text cannot begin with this character', 'put the text in quotes'),
  BLOCK_AS_IMPLICIT_KEY: explained(
    'a group of fields stands where one value has to be',
    'write it on lines of its own, indented; or quote a text that has ": " in it',
  ),
  BLOCK_IN_FLOW: explained('a list of lines stands inside brackets', 'use either brackets or lines'),
  DUPLICATE_KEY: explained('the field stands there twice', 'keep one of the two'),
  KEY_OVER_1024_CHARS: explained('the name of a field is longer than 1,024 characters', 'check for a missing quote or colon'),
  MISSING_CHAR: explained(
    'a character is missing: a quote, a bracket, a comma or a colon',
    'complete the line, or the one before it',
  ),
  MULTILINE_IMPLICIT_KEY: explained(
    'the name of a field goes on to the next line',
    'check for a missing colon, and for the indentation',
  ),
  MULTIPLE_ANCHORS: explained('a value has two anchors', 'keep one of them'),
  MULTIPLE_TAGS: explained('a value has two tags', 'keep one of them'),
  TAB_AS_INDENT: explained('a tab is used for indentation', 'use spaces'),
  TAG_RESOLVE_FAILED: explained('the tag of a value is unknown', 'remove it'),
  UNEXPECTED_TOKEN: explained(
    'this is not expected here',
    'check the indentation, the quotes and the brackets of this line and the one before',
  ),
  RESOURCE_EXHAUSTION: explained('the document is nested too deeply', 'write it flatter'),
};

/** What is wrong with invalid YAML, and what to do about it. */
export function explainYamlError(code: string): Explanation {
  return (
    EXPLANATIONS[code] ??
    explained('this is not YAML', 'check the indentation, the quotes and the brackets of this line and the one before')
  );
}
