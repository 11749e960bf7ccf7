/** An ESLint rule: what a literal has is written in it, not in a literal that is spread into it. */
const messages = { spread: 'Write these members without the literal around them.' };

/** Also with `as const` behind it, and in the arguments of a call. */
const spreadLiterals = [
  'ObjectExpression > SpreadElement > ObjectExpression',
  'ObjectExpression > SpreadElement > TSAsExpression > ObjectExpression',
  ':matches(ArrayExpression, CallExpression) > SpreadElement > ArrayExpression',
  ':matches(ArrayExpression, CallExpression) > SpreadElement > TSAsExpression > ArrayExpression',
];

const noSpreadLiteral = {
  meta: { type: 'suggestion', schema: [], messages },
  create: (context) => ({
    [spreadLiterals.join(', ')](node) {
      context.report({ node, messageId: 'spread' });
    },
  }),
};

export default { rules: { 'no-spread-literal': noSpreadLiteral } };
