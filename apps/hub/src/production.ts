/**
 * Imported before everything else. Libraries look at NODE_ENV as they are loaded: outside of production graphql explains at each check of a type, several for each variable
 * of a request, why it may have failed, which is a tenth of what a call through the API costs.
 */
process.env['NODE_ENV'] ??= 'production';
