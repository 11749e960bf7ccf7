/**
 * ESLint rules for comments and texts: words to avoid, and the size of comments.
 * The words are in words-to-avoid.mjs, the reasons in docs/glossary.md.
 */
import { findWordsToAvoid } from './words-to-avoid.mjs';

const COLUMNS_MAX = 100;
const LINES_MAX = 2;
const HEADER_LINES_MAX = 5;

/** Lines of a comment that have text, without delimiters, asterisks and the rows of a table. */
function textLines(comment) {
  const lines = comment.value.split('\n').map((line) => line.replace(/^\s*\*+/u, '').trim());
  return lines.filter((line) => line !== '' && !line.startsWith('|'));
}

/** Consecutive `//` comments count as one when each has a line to itself. */
function commentBlocks(sourceCode) {
  const blocks = [];
  for (const comment of sourceCode.getAllComments()) {
    const last = blocks.at(-1);
    const startsLine = sourceCode.lines[comment.loc.start.line - 1].slice(0, comment.loc.start.column).trim() === '';
    const continues =
      comment.type === 'Line' && startsLine && last?.isLine && last.end.loc.end.line + 1 === comment.loc.start.line;
    if (continues) {
      last.end = comment;
      last.lines += textLines(comment).length;
    } else
      blocks.push({
        start: comment,
        end: comment,
        lines: textLines(comment).length,
        isLine: comment.type === 'Line' && startsLine,
      });
  }
  return blocks;
}

const commentSize = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: {
      wide: `A comment line has at most ${COLUMNS_MAX} columns; this one has {{columns}}.`,
      long: `A comment has at most {{max}} lines of text; this one has {{lines}}. Longer explanations go to docs/.`,
    },
  },
  create: (context) => ({
    Program() {
      const { sourceCode } = context;
      for (const { start, end, lines } of commentBlocks(sourceCode)) {
        const isHeader = sourceCode.getTokenBefore(start) === null;
        const max = isHeader ? HEADER_LINES_MAX : LINES_MAX;
        if (lines > max)
          context.report({
            loc: { start: start.loc.start, end: end.loc.end },
            messageId: 'long',
            data: { lines, max },
          });
        for (let line = start.loc.start.line; line <= end.loc.end.line; line += 1) {
          const columns = sourceCode.lines[line - 1].length;
          const isOnlyComment = line > start.loc.start.line || sourceCode.lines[line - 1].trimStart().startsWith('/');
          if (isOnlyComment && columns > COLUMNS_MAX)
            context.report({ loc: { line, column: COLUMNS_MAX }, messageId: 'wide', data: { columns } });
        }
      }
    },
  }),
};

const plainWords = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { avoid: 'Avoid "{{words}}"; write: {{advice}}.' },
  },
  create(context) {
    const check = (node, text) => {
      for (const { words, advice } of findWordsToAvoid(text))
        context.report({ loc: node.loc, messageId: 'avoid', data: { words, advice } });
    };
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments())
          check(comment, comment.value.replace(/\n\s*\*?\s*/gu, ' '));
      },
      Literal(node) {
        if (typeof node.value === 'string') check(node, node.value);
      },
      TemplateElement: (node) => check(node, node.value.raw),
      JSXText: (node) => check(node, node.value),
    };
  },
};

export default { rules: { 'comment-size': commentSize, 'plain-words': plainWords } };
