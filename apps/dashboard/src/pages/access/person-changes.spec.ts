import { describe, expect, it } from 'vitest';
import { personChanges } from './person-changes';

const mei = { id: '1', name: 'Mei', email: 'mei@example.com', role: 'ADMIN', disabledAt: null } as const;
const { name, email, role } = mei;

describe('the changes of a person', () => {
  it('leave out the role, which another admin may have changed meanwhile', () => {
    expect(personChanges(mei, { name: 'Mei Lin', email, role })).toEqual({ name: 'Mei Lin' });
  });

  it('are what the form changed', () => {
    expect(personChanges(mei, { name, email: null, role: 'VIEWER' })).toEqual({ email: null, role: 'VIEWER' });
    expect(personChanges(mei, { name, email, role })).toEqual({});
  });
});
