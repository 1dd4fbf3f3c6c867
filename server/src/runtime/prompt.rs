//! Whether a session looks for the next request right behind its answer, without being told that it is there.
//!
//! A client on the same core is often given the core by the very answer that wakes it, and its next request is there
//! before the loop gets to ask the system what has arrived: that question, which costs more than a read, is then saved. Where
//! the client takes longer, looking finds nothing, so it is only tried now and then until it does.
//!
//! Nothing is missed by it: what arrives after a look that found nothing is told of, and what a look has taken the system
//! no longer tells of. After [`TOGETHER_MAX`] requests in a row the sockets are asked, so that others are heard.

/// Requests taken untold before the system is asked again.
const TOGETHER_MAX: u32 = 8;
/// Answers between two tries where looking has found nothing.
const TRIED_EVERY: u32 = 32;
/// Looks in vain, one after the other, after which it is only tried.
const VAIN_MAX: u32 = 2;

/// The state of one session.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    /// Whether an answer has been given since the last look.
    answered: bool,
    /// Whether a look is under way.
    looking: bool,
    /// Whether looking pays.
    pays: bool,
    /// Looks that have found something since the system was asked.
    together: u32,
    /// Looks in vain since one that was not.
    vain: u32,
    /// Answers since the last try.
    untried: u32,
}

impl Prompt {
    /// Something has been written.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// Whether to look now, as nothing is known to have arrived.
    pub fn looks(&mut self) -> bool {
        if !std::mem::take(&mut self.answered) {
            return false;
        }
        self.looking = if self.pays {
            self.together += 1;
            self.together %= TOGETHER_MAX + 1;
            self.together != 0
        } else {
            self.untried += 1;
            self.untried %= TRIED_EVERY;
            self.untried == 0
        };
        self.looking
    }

    /// What a read has found, after a look or told.
    pub fn found(&mut self, something: bool) {
        if !std::mem::take(&mut self.looking) {
            self.together = 0;
            return;
        }
        if something {
            (self.pays, self.vain) = (true, 0);
            return;
        }
        self.together = 0;
        self.vain += 1;
        self.pays &= self.vain < VAIN_MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a session looks behind an answer, where the next request is, or is not, there by then.
    fn request(prompt: &mut Prompt, there: bool) -> bool {
        prompt.answered();
        let looked = prompt.looks();
        if looked {
            prompt.found(there);
        }
        if !looked || !there {
            assert!(!prompt.looks(), "once for an answer");
            prompt.found(true);
        }
        looked
    }

    #[test]
    fn looking_goes_on_while_it_pays_and_others_are_heard() {
        let mut prompt = Prompt::default();
        let looks = (0..1_000).filter(|_| request(&mut prompt, true)).count();
        assert!(
            (850..900).contains(&looks),
            "{looks}: all but one in nine, once the first has paid"
        );
        let longest = (0..100).map(|_| request(&mut prompt, true)).collect::<Vec<_>>();
        let longest = longest.split(|looked| !looked).map(<[bool]>::len).max();
        assert_eq!(longest, Some(TOGETHER_MAX as usize));
    }

    #[test]
    fn looking_in_vain_is_only_tried() {
        let mut prompt = Prompt::default();
        let looks = (0..3_200).filter(|_| request(&mut prompt, false)).count();
        assert_eq!(looks, 100);
        assert!((0..64).any(|_| request(&mut prompt, true)), "and taken up again where it pays");
        assert!(request(&mut prompt, true) || request(&mut prompt, true));
    }
}
