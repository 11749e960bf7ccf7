import { describe, expect, it } from 'vitest';
import { argumentsOf, draftOf, draftOfGiven, fieldsOf, fieldsWith, presetsOf } from './argument-fields';

const schema = {
  type: 'object',
  properties: {
    volume: { type: 'integer', minimum: 0, maximum: 100 },
    colour: { type: 'integer', minimum: 0, maximum: 16_777_215 },
    on: { type: 'boolean' },
    mode: { type: 'string', enum: ['slow', 'fast'], default: 'slow' },
    text: { type: 'string', maxLength: 20 },
    steps: { type: 'array', items: { type: 'integer' } },
    odd: 'not a schema',
  },
  required: ['volume', 'on', 'text'],
};

describe('fields of an input schema', () => {
  it('are of the kind that the schema calls for', () => {
    expect(fieldsOf(schema).map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
      ['volume', 'range', true],
      ['colour', 'number', false],
      ['on', 'switch', true],
      ['mode', 'choice', false],
      ['text', 'text', true],
      ['steps', 'json', false],
      ['odd', 'json', false],
    ]);
  });

  it.each([undefined, null, 7, 'x', [], {}, { properties: 3 }])(
    'are empty for a schema without properties: %j',
    (nothing) => {
      expect(fieldsOf(nothing)).toEqual([]);
    },
  );

  it('begin with what is known, else with the default of the schema, else empty', () => {
    expect(draftOf(fieldsOf(schema), { text: 'Hi' })).toMatchObject({ text: 'Hi', mode: 'slow' });
    expect(draftOf(fieldsOf(schema))).toMatchObject({ volume: undefined, on: undefined, text: undefined });
  });

  it('begin empty where a default or a known value has another type than the field', () => {
    const fields = fieldsOf({
      properties: {
        level: { type: 'integer', default: null },
        volume: { type: 'integer', minimum: 0, maximum: 9, default: '5' },
        mode: { enum: ['slow', 'fast'], default: 'off' },
        on: { type: 'boolean', default: 'yes' },
        text: { type: 'string', default: 7 },
      },
    });
    expect(argumentsOf(fields, draftOf(fields))).toEqual({ arguments: {}, problems: {} });
    expect(argumentsOf(fields, draftOf(fields, { volume: '3', mode: 'idle', on: 1 })).arguments).toEqual({});
  });

  it('offer a choice once that a schema has twice', () => {
    expect(fieldsOf({ properties: { mode: { enum: ['a', 'b', 'a', 1, '1'] } } })[0]).toMatchObject({
      kind: 'choice',
      choices: ['a', 'b', 1],
    });
  });

  it('get no defaults where arguments were chosen before', () => {
    const given = { volume: 20, on: true, text: 'Hi', steps: [1] };
    expect(argumentsOf(fieldsOf(schema), draftOfGiven(fieldsOf(schema), given)).arguments).toEqual(given);
  });

  it('include one for each argument that was chosen before and is not in the schema', () => {
    const given = { volume: 30, on: true, text: '', fade: { ms: 5 } };
    const fields = fieldsWith(given, schema);
    expect(fields.slice(0, -1)).toEqual(fieldsOf(schema));
    expect(fields.slice(-1)).toMatchObject([{ name: 'fade', kind: 'json', hint: 'unlisted' }]);
    const draft = draftOfGiven(fields, given);
    expect(argumentsOf(fields, draft)).toEqual({ arguments: given, problems: {} });
    expect(argumentsOf(fields, { ...draft, fade: '' }).arguments).toEqual({ volume: 30, on: true, text: '' });
  });

  it('have presets for one device: required values as low as possible', () => {
    expect(presetsOf(fieldsOf(schema))).toEqual({ volume: 0, on: false });
  });
});

describe('arguments of a draft', () => {
  const fields = fieldsOf(schema);

  it('leave out what was left empty, and read JSON', () => {
    const draft = { ...draftOf(fields), volume: 20, on: false, text: '', steps: '[1, 2]' };
    expect(argumentsOf(fields, draft)).toEqual({
      arguments: { volume: 20, on: false, mode: 'slow', text: '', steps: [1, 2] },
      problems: {},
    });
  });

  it('lack every required value that was not chosen', () => {
    const { problems } = argumentsOf(fields, draftOf(fields));
    expect(problems).toEqual({ volume: 'required', on: 'required', text: 'required' });
  });

  it('say what is missing and what is no JSON', () => {
    expect(argumentsOf(fields, { volume: undefined, on: true, steps: '[1' }).problems).toEqual({
      volume: 'required',
      text: 'required',
      steps: 'json',
    });
  });

  it('keep what was chosen before, also where it does not fit its field', () => {
    const given = { volume: 'loud', colour: '7', on: 'yes', mode: 'old', text: 7 };
    const kept = fieldsWith(given, schema);
    expect(kept.slice(0, 5)).toMatchObject([
      { name: 'volume', kind: 'json', isRequired: true, hint: 'unfit' },
      { name: 'colour', kind: 'json', isRequired: false, hint: 'unfit' },
      { name: 'on', kind: 'json', hint: 'unfit' },
      { name: 'mode', kind: 'choice', choices: ['slow', 'fast', 'old'], hint: 'unlistedChoice' },
      { name: 'text', kind: 'json', hint: 'unfit' },
    ]);
    const draft = draftOfGiven(kept, given);
    expect(argumentsOf(kept, draft)).toEqual({ arguments: given, problems: {} });
    expect(argumentsOf(kept, { ...draft, colour: '', mode: undefined })).toEqual({
      arguments: { volume: 'loud', on: 'yes', text: 7 },
      problems: {},
    });
  });

  it('keep a number apart from a choice of the same digits', () => {
    const fields = fieldsWith({ step: '1' }, { properties: { step: { enum: [1, 2] } } });
    expect(fields).toMatchObject([{ kind: 'json', hint: 'unfit' }]);
    expect(argumentsOf(fields, draftOfGiven(fields, { step: '1' })).arguments).toEqual({ step: '1' });
  });
});
