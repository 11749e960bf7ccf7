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
    const sent = withSent(typed('lobby l'), 'lobby l', 'lobby');
    expect(withArrived(typed('lobby le', sent), 'lobby l')).toMatchObject({ text: 'lobby le', isPending: true });
    const twice = withSent(typed('lobby le', sent), 'lobby le', 'lobby');
    expect(withArrived(twice, 'lobby l').text).toBe('lobby le');
    expect(withArrived(withArrived(twice, 'lobby l'), 'lobby le')).toEqual(textOf('lobby le'));
  });

  it('keeps letters where only the last address arrives', () => {
    const once = withSent(typed('lobby l'), 'lobby l', 'lobby');
    const twice = withSent(typed('lobby le', once), 'lobby le', 'lobby');
    expect(withArrived(twice, 'lobby le')).toEqual(textOf('lobby le'));
    expect(withArrived(typed('lobby lef', twice), 'lobby le')).toMatchObject({ text: 'lobby lef', isPending: true });
  });

  it('does not bring a deleted letter back', () => {
    const sent = withSent(typed('lobby l'), 'lobby l', 'lobby');
    const deleted = withArrived(typed('lobby', sent), 'lobby l');
    expect(deleted.text).toBe('lobby');
    expect(isNews(deleted, 'lobby', 'lobby l')).toBe(true);
    expect(withArrived(withSent(deleted, 'lobby', 'lobby l'), 'lobby')).toEqual(shown);
  });

  it('sends the former text again if the address is about to change', () => {
    const sent = withSent(typed('lobby l'), 'lobby l', 'lobby');
    expect(isNews(typed('lobby', sent), 'lobby', 'lobby')).toBe(true);
    // The former text is in the address: no other arrives where it replaces the one under way.
    const undone = withSent(typed('lobby', sent), 'lobby', 'lobby');
    expect(undone).toEqual(shown);
    expect(withArrived(undone, 'lobby l')).toEqual(textOf('lobby l'));
  });

  it('is sent again where its address never arrived', () => {
    const lost = withSent(typed('lobby l'), 'lobby l', 'lobby');
    expect(isNews(typed('lobby l', lost), 'lobby l', 'lobby')).toBe(true);
    expect(withArrived(lost, 'bar')).toEqual(textOf('bar'));
  });

  it('is not sent where the address has it, and nothing else is under way', () => {
    expect(isNews(typed('lobby '), 'lobby', 'lobby')).toBe(false);
  });

  it('keeps the space after a word, which the address does not have', () => {
    expect(withArrived(withSent(typed('left '), 'left', ''), 'left').text).toBe('left ');
  });
});
