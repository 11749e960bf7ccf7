/**
 * Must be imported first, because libraries read NODE_ENV when they load. Outside of production,
 * graphql explains each failed type check: a tenth of the cost of an API call.
 */
process.env['NODE_ENV'] ??= 'production';
