//! Asking a drive whom its commands wait for, and what its dies and channels do meanwhile.

use crate::drive::engine::State;
use crate::flash::holders::{Holders, Span, Told};

/// What is told of waits and of spans ([`Drive::tracing`](crate::Drive::tracing)).
pub struct Tracing<'a> {
    pub(crate) state: &'a mut State,
}

impl Tracing<'_> {
    /// Tells from now on whom commands wait for, or no more: those that come from now on. See [`Tracing::take_told`].
    pub fn tell_holders(&mut self, on: bool) {
        let State { flash, host, now, .. } = &mut *self.state;
        flash.holders = on.then(|| Box::new(Holders::new(flash, *now)));
        flash.note_listeners();
        host.tell_holders(on);
    }

    /// Whom the command has waited for whose completion was taken last: nanoseconds by [`Holder`](crate::Holder). They
    /// add up to its [`Part::DieWait`](crate::Part::DieWait), `ChannelWait`, `Suspended`, `BufferWait` and `LockWait`,
    /// and what of `Dispatch` no page was free for. To be asked once for each completion.
    pub fn take_told(&mut self) -> Told {
        self.state.host.take_told()
    }

    /// Tells from now on what dies, planes and channels do, or no more; only beside [`Tracing::tell_holders`]. Take
    /// spans often: they are kept until then.
    pub fn tell_spans(&mut self, on: bool) {
        let State { flash, ftl, now, .. } = &mut *self.state;
        let planes = ftl.moves.media.tables.layout.planes_per_die;
        if let Some(mut holders) = flash.holders.take() {
            holders.tell_spans(flash, on, planes, *now);
            flash.holders = Some(holders);
        }
    }

    /// Takes the next span that is over. They come by place in order of time, places among each other do not.
    pub fn take_span(&mut self) -> Option<Span> {
        self.state.flash.holders.as_mut().and_then(|holders| holders.take_span())
    }

    /// All spans end now; what goes on after that has spans of its own.
    pub fn close_spans(&mut self) {
        let State { flash, now, .. } = &mut *self.state;
        if let Some(holders) = &mut flash.holders {
            holders.close_spans(*now);
        }
    }
}
