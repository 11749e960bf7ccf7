import { describe, expect, it } from 'vitest';
import { argumentsInWords, typedArguments } from './tool-schema.js';

const schema = {
  type: 'object',
  properties: {
    volume: { type: 'integer', minimum: 0, maximum: 100 },
    text: { type: 'string' },
    mode: { type: 'string', enum: ['day', 'night'] },
    fade: { type: 'boolean' },
    levels: { type: 'array', items: { type: 'integer' } },
  },
  required: ['volume'],
};
const typed = (...words: string[]) => typedArguments('set', schema, words);

describe('arguments in words', () => {
  it('get the types of the schema', () => {
    expect(typed('volume=20', 'text=20', 'fade=true', 'levels=[1,2]', 'mode=night')).toEqual({
      volume: 20,
      text: '20',
      fade: true,
      levels: [1, 2],
      mode: 'night',
    });
    expect(typed('volume=20', 'text=a=b c')).toEqual({ volume: 20, text: 'a=b c' });
  });

  it.each([
    [['volume=loud'], 'volume must be of the type integer (0 to 100), not "loud".'],
    [['volume=101'], 'volume must be <= 100.'],
    [['volume=1.5'], 'volume must be integer.'],
    [['text=x'], 'The argument "volume" is missing. Valid arguments: volume:integer (0 to 100), text:string?'],
    [['loudness=3'], 'set has no argument "loudness". Valid arguments: volume, text, mode, fade, levels.'],
    [['volume=1', 'mode=dusk'], 'mode must be equal to one of the allowed values. Valid arguments: volume'],
    [['volume=1', 'volume=2'], 'The argument "volume" is given more than once.'],
    [['volume=1', 'loud'], '"loud" is not an argument. Write name=value.'],
  ])('are rejected with the valid ones: %j', (words, message) => expect(() => typed(...words)).toThrow(message));

  it('are guessed without a schema', () => {
    expect(typedArguments('set', undefined, ['a=1', 'b=true', 'c=null', 'd=x', 'e={"f":1}'])).toEqual({
      a: 1,
      b: true,
      c: null,
      d: 'x',
      e: '{"f":1}',
    });
  });

  it('of several types are texts where no other type fits', () => {
    const several = {
      type: 'object',
      properties: { mode: { type: ['string', 'null'] }, level: { type: ['integer', 'null'] } },
    };
    expect(typedArguments('set', several, ['mode=quiet', 'level=null'])).toEqual({ mode: 'quiet', level: null });
    expect(typedArguments('set', several, ['mode=20', 'level=20'])).toEqual({ mode: '20', level: 20 });
    expect(typedArguments('set', several, ['mode={"a":1}'])).toEqual({ mode: '{"a":1}' });
    expect(() => typedArguments('set', several, ['level=high'])).toThrow('level must be of the type integer|null');
  });

  it.each([
    { $schema: 'https://json-schema.org/draft/2020-12/schema', properties: { volume: { type: 'integer' } } },
    { properties: { volume: { type: 'integer' }, other: { $ref: '#/$defs/missing' } } },
    { properties: { volume: { type: 'integer' }, other: { type: 'number', minimum: 'none' } } },
  ])('are left to the hub where the schema of a device cannot be used: %j', (unusable) => {
    expect(typedArguments('set', unusable, ['volume=20'])).toEqual({ volume: 20 });
  });

  it('are not compared with an expression of a device, which could run without end', () => {
    const endless = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } };
    expect(typedArguments('say', endless, [`text=${'a'.repeat(40)}!`])).toEqual({ text: `${'a'.repeat(40)}!` });
  });

  it('are rejected by a tool that takes none', () => {
    expect(() => typedArguments('reboot', { type: 'object', properties: {} }, ['now=1'])).toThrow(
      'reboot has no argument "now". reboot takes no arguments.',
    );
  });
});

describe('a schema', () => {
  it('is listed by name, type and limits', () => {
    expect(argumentsInWords(schema)).toBe(
      'volume:integer (0 to 100), text:string?, mode:"day"|"night"?, fade:boolean?, levels:array?',
    );
    expect(argumentsInWords({})).toBe('');
  });
});
