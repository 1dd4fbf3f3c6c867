//! The inputs of a merge: a binary heap of their numbers, on top the one whose head comes first (Knuth, *The Art of Computer
//! Programming*, vol. 3, 5.4.1).
//!
//! The heads stay with their owner, which says how two of them are ordered. Between two calls only the head of the input on top
//! may change.

/// Numbers of inputs that have a head.
#[derive(Clone, Debug, Default)]
pub struct MergeHeap(Vec<usize>);

impl MergeHeap {
    /// Of these inputs, of which `before` tells whether the head of one comes before that of another.
    #[must_use]
    pub fn new(inputs: Vec<usize>, mut before: impl FnMut(usize, usize) -> bool) -> MergeHeap {
        let mut heap = MergeHeap(inputs);
        for place in (0..heap.0.len() / 2).rev() {
            heap.sink(place, &mut before);
        }
        heap
    }

    /// The input whose head comes first; none if all have ended.
    #[must_use]
    #[inline]
    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// The first input has another head, or, unless it is `there`, none any more.
    pub fn advanced(&mut self, there: bool, mut before: impl FnMut(usize, usize) -> bool) {
        if !there && !self.0.is_empty() {
            self.0.swap_remove(0);
        }
        self.sink(0, &mut before);
    }

    fn sink(&mut self, mut place: usize, before: &mut impl FnMut(usize, usize) -> bool) {
        let heap = &mut self.0;
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < heap.len() && before(heap[child], heap[least]) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            heap.swap(place, least);
            place = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MergeHeap;
    use proptest::prelude::*;

    proptest! {
        /// Sorted inputs come out as one, those that are equal by the number of their input.
        #[test]
        fn inputs_are_merged_in_order(mut inputs in proptest::collection::vec(proptest::collection::vec(0..50u8, 0..20), 0..9)) {
            inputs.iter_mut().for_each(|input| input.sort_unstable());
            let mut expected: Vec<_> =
                inputs.iter().enumerate().flat_map(|(number, input)| input.iter().map(move |head| (*head, number))).collect();
            expected.sort_unstable();
            let mut at = vec![0; inputs.len()];
            let before = |at: &[usize], a: usize, b: usize| (inputs[a][at[a]], a) < (inputs[b][at[b]], b);
            let begun = (0..inputs.len()).filter(|number| !inputs[*number].is_empty()).collect();
            let mut heap = MergeHeap::new(begun, |a, b| before(&at, a, b));
            let mut merged = Vec::new();
            while let Some(first) = heap.first() {
                merged.push((inputs[first][at[first]], first));
                at[first] += 1;
                heap.advanced(at[first] < inputs[first].len(), |a, b| before(&at, a, b));
            }
            prop_assert_eq!(merged, expected);
        }
    }
}
