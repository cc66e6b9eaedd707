//! Which pages of a block share a wordline.

use crate::nand::order::PageOrder;

/// The pages of each wordline of a block. A *place* is a wordline times page types plus page type.
#[derive(Clone, Debug, Default)]
pub struct Wordlines {
    /// Page of each place.
    page_at: Vec<u32>,
    types: u32,
    /// Pages of a wordline follow one another, and those of the next them.
    pub(in crate::ftl) in_order: bool,
}

impl Wordlines {
    /// The pages of each wordline, of so many page types, in the order in which they are programmed.
    pub(in crate::ftl) fn new(order: &PageOrder, types: u32) -> Self {
        let mut page_at = vec![0; order.pages() as usize];
        for page in 0..order.pages() {
            let place = order.place(page);
            page_at[(place.wordline * types) as usize + usize::from(place.page_type)] = page;
        }
        let in_order = (0..).zip(&page_at).all(|(at, &page)| at == page);
        Wordlines { page_at, types, in_order }
    }

    /// Pages of a wordline.
    #[inline]
    pub fn types(&self) -> u32 {
        self.types
    }

    /// Places of a block.
    #[inline]
    pub fn places(&self) -> u32 {
        self.page_at.len() as u32
    }

    /// The page of a place.
    #[inline]
    pub fn page_of(&self, place: u32) -> u32 {
        self.page_at[place as usize]
    }

    /// The pages of a wordline, by their types.
    #[inline]
    pub fn pages(&self, wordline: u32) -> &[u32] {
        &self.page_at[(wordline * self.types) as usize..][..self.types as usize]
    }

    /// The first page of a wordline, and the one after its last.
    pub fn range(&self, wordline: u32) -> (u32, u32) {
        let pages = self.pages(wordline);
        (pages[0], pages[pages.len() - 1] + 1)
    }
}
