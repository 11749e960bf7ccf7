import type { TFunction } from 'i18next';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { translateValidation } from './translate-validation';

/** A field that needs a value, with the checks of a browser. */
class RequiredControl {
  readonly type = 'text';
  value = '';
  message = '';

  get validity() {
    const [customError, valueMissing] = [this.message !== '', this.value === ''];
    return { customError, valueMissing, valid: !customError && !valueMissing };
  }

  setCustomValidity(message: string) {
    this.message = message;
  }
}

class RequiredField extends RequiredControl {}
class RequiredArea extends RequiredControl {}

beforeEach(() => {
  vi.stubGlobal('HTMLInputElement', RequiredField);
  vi.stubGlobal('HTMLTextAreaElement', RequiredArea);
});
afterEach(() => vi.unstubAllGlobals());

describe('the message of a field', () => {
  const opened = (field: RequiredControl = new RequiredField()) => {
    const root = new EventTarget();
    translateValidation(root, ((key: string) => key) as TFunction);
    const send = (event: 'click' | 'keydown') => {
      root.dispatchEvent(new Event(event));
      if (!field.validity.valid)
        root.dispatchEvent(Object.defineProperty(new Event('invalid'), 'target', { value: field }));
      return field.validity.valid;
    };
    return { field, send };
  };

  it.each(['click', 'keydown'] as const)('is taken back before the next check, by a %s', (event) => {
    const { field, send } = opened();
    expect(send(event)).toBe(false);
    expect(field.message).toBe('validation.missing');
    // Set by React: no event of the browser.
    field.value = 'battery.level';
    expect(send(event)).toBe(true);
  });

  it('comes again while the value is still missing', () => {
    const { field, send } = opened();
    send('click');
    expect(send('click')).toBe(false);
    expect(field.message).toBe('validation.missing');
  });

  it('comes for a field of several lines, too', () => {
    const { field, send } = opened(new RequiredArea());
    expect(send('click')).toBe(false);
    expect(field.message).toBe('validation.missing');
  });
});
