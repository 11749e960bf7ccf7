import { describe, expect, it } from 'vitest';
import { isNews, textOf, withArrived, withSent, withTyped } from './typed-text';

describe('the text of a search field', () => {
  const shown = textOf('lobby');
  const typed = (text: string, former = shown) => withTyped(former, text);

  it('follows the address: a link without a filter empties the field', () => {
    expect(withArrived(shown, '').text).toBe('');
    expect(withArrived(typed('lobby l'), '')).toEqual(textOf(''));
  });

  it('keeps a letter that is typed while the address changes', () => {
    const sent = withSent(typed('lobby l'), 'lobby l');
    expect(withArrived(typed('lobby le', sent), 'lobby l')).toMatchObject({ text: 'lobby le', isPending: true });
    const twice = withSent(typed('lobby le', sent), 'lobby le');
    expect(withArrived(twice, 'lobby l').text).toBe('lobby le');
    expect(withArrived(withArrived(twice, 'lobby l'), 'lobby le')).toEqual(textOf('lobby le'));
  });

  it('sends the former text again if the address is about to change', () => {
    const sent = withSent(typed('lobby l'), 'lobby l');
    expect(isNews(typed('lobby', sent), 'lobby', 'lobby')).toBe(true);
    expect(isNews(typed('lobby l', sent), 'lobby l', 'lobby')).toBe(false);
    const undone = withSent(typed('lobby', sent), 'lobby');
    expect(withArrived(withArrived(undone, 'lobby l'), 'lobby')).toEqual(shown);
  });

  it('keeps the space after a word, which the address does not have', () => {
    expect(withArrived(withSent(typed('left '), 'left'), 'left').text).toBe('left ');
  });
});
