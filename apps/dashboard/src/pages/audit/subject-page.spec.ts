import { describe, expect, it } from 'vitest';
import { subjectPage } from './subject-page';

describe('the page of an audit subject', () => {
  it('is that of the device or the job, also if the id has colons', () => {
    expect(subjectPage('device:02:00:01:00:00:04')).toEqual({
      to: '/devices/$id',
      params: { id: '02:00:01:00:00:04' },
    });
    expect(subjectPage('job:01a2')).toEqual({ to: '/jobs/$id', params: { id: '01a2' } });
    expect(subjectPage('desired-state:01a2')).toEqual({ to: '/desired/$id', params: { id: '01a2' } });
    expect(subjectPage('firmware:01a2')).toEqual({ to: '/firmware' });
  });

  it('does not exist for other subjects', () => {
    expect(['devices', 'hub', 'policy:self.*', 'user:7'].map(subjectPage)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
