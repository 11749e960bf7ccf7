/** An ESLint rule: what a literal has is written in it, not in a literal that is spread into it. */
const messages = { spread: 'Write these members without the literal around them.' };

const noSpreadLiteral = {
  meta: { type: 'suggestion', schema: [], messages },
  create: (context) => ({
    'ObjectExpression > SpreadElement > ObjectExpression, ArrayExpression > SpreadElement > ArrayExpression'(node) {
      context.report({ node, messageId: 'spread' });
    },
  }),
};

export default { rules: { 'no-spread-literal': noSpreadLiteral } };
