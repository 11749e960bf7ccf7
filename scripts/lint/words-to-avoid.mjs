/**
 * Words and phrases that this project avoids, and what to write instead (docs/glossary.md).
 * The lint rule for code and test/repository/language.spec.ts use this list.
 */

/** A pattern, case-insensitive, and the advice of the message. */
const entries = [
  ['\\b(?:tells?|told|telling)\\b', 'report, return, show, notify; receives, is notified'],
  ['\\bnobody\\b', 'name the role, or "no client", "no caller", "no process"'],
  ['\\bsomebody\\b', 'name the role: "a person", "another process", "the owner"'],
  ['\\bwhoever\\b', 'name the role: "the caller", "any client", "the owner"'],
  ['\\bwhatever\\b', '"any", "regardless of", or name the thing'],
  ['\\bbefell\\b', 'happened to'],
  ['\\b(?:became|become|becomes) of\\b', 'happened to, the result of'],
  ['\\bin vain\\b', 'wasted, without effect, unsuccessful'],
  ['\\bfruitless', 'wasted, without effect, unsuccessful'],
  ['\\ball the same\\b', 'still, anyway'],
  ['\\bfor all that\\b', 'still, anyway'],
  ['\\b(?:it|this|that|which|he|she) (?:is|was) no (?!longer|more|one\\b)[a-z]', '"it is not a …"'],
  ['\\b(?:is|are|was|were) none\\b', '"there is no …", "there are no …"'],
  ['\\b(?:stand|stands|stood) (?:in|beside)\\b', 'is in, is next to'],
  ['\\bturn(?:s|ed|ing)? (?:\\w+ )?away\\b', 'reject, rejected'],
  [
    '\\blet(?:s|ting)? (?:it |them |him |a device |devices |the device )?in\\b',
    'admit, admitted; approve for enrolment',
  ],
  ['\\banew\\b', 'again'],
  ['\\bdear\\b', 'expensive, costly'],
  ['\\blends\\b', 'borrows, provides'],
  ['\\bkeeps? company\\b', 'say it in plain words'],
  ['\\bowed\\b', 'pending, outstanding'],
  ['\\bby hand\\b', 'manually'],
  [
    '\\bof (?:yours|its own|their own|his own|our own|your own|ours|theirs)\\b',
    '"its own", "your", "their" before the noun, only where needed',
  ],
  ['\\bmeant\\b', 'selected, intended, or say what it is'],
  ['\\bunheard\\b', 'unhandled, not received'],
  ['\\bwithout a word\\b', 'silently'],
];

/** @type {readonly { readonly pattern: RegExp, readonly advice: string }[]} */
export const wordsToAvoid = entries.map(([source, advice]) => ({
  // A phrase may go on in the next line, which may be indented.
  pattern: new RegExp(source.replaceAll(' ', '\\s+'), 'giu'),
  advice,
}));

/** All words to avoid in a text, with their position and the advice. */
export function findWordsToAvoid(text) {
  return wordsToAvoid.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map((match) => ({ index: match.index, words: match[0], advice })),
  );
}
