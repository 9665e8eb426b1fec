const n = (count: number, one: string, other: string) => `${count.toLocaleString('en')} ${count === 1 ? one : other}`;

/** grants holds the words of the kinds of steps that a person allows beforehand. */
export const grants = {
	grants: {
		kind: 'This kind…',
		more: 'Approve more than this once',
		reading: 'Looking what it would cover',
		for: 'For',
		run: 'this run',
		session: 'this conversation',
		hour: '1 hour',
		hours: '8 hours',
		month: '30 days',
		confirm: 'Approve this kind',
		looked: (covered: number, looked: number) =>
			looked === 0
				? 'No request came from here before.'
				: `Would have covered ${covered} of the last ${n(looked, 'request', 'requests')} from here.`,
		approved: 'You approved',
		never: 'never a shell or an interpreter',
		what: 'This kind of step',
		in: 'In',
		until: 'Until',
		used: 'Used',
		runEnds: 'the run ends',
		sessionEnds: 'this conversation',
		network: 'with the network',
		revoke: 'Revoke',
		revokeOne: (what: string) => `Revoke ${what}`,
		none: 'No kind of step is approved. "This kind…" on a request that waits approves one, so that the next of its kind does not ask.',
		byGrant: (id: string) => `Allowed by a grant of yours, ${id}`,
	},
};
